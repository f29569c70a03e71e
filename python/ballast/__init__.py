"""Ballast: which load-distribution policy keeps a fleet fast and stable, and what it costs.

    import ballast
    ballast.compare(servers=100, load=0.9)
    ballast.run("load.yaml")
    ballast.replay("access.log", target="p99=2s")
    ballast.policies()

Answers are tables: pandas DataFrames where pandas is there, else ballast.Table with the same access to
columns. Every option of the program's commands is a keyword, with _ for -: `ballast help compare` lists those
of compare. An estimate comes with its 95 % half-width in the column of the same name and .ci. A row whose
numbers are doubted has '!' in its column flag, and the reasons in doubts; where a queue grows without bound
there are no means but NaN, and verdict says unstable. What is wrong in a question raises ballast.Error."""
import json
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _frame, _native, _words
from ._frame import Frame, Table
from ._native import DoubtWarning, Error, Progress, version
from ._results import histograms, trials
from ._words import File, Option, Value

__all__ = ['DoubtWarning', 'Error', 'Frame', 'Table', 'ask', 'compare', 'histograms', 'policies', 'replay',
           'run', 'trials', 'version']
__version__ = version
for _public in DoubtWarning, Error, Table:
    _public.__module__ = __name__  # as they are known


def _ask(command: str, operands: Sequence[Value], options: Mapping[str, Option],
         progress: Optional[Progress] = None) -> Any:
    answer = _native.ask(_words.words(command, operands, options), progress)
    for text in answer.warnings:
        warnings.warn(text, DoubtWarning, stacklevel=3)
    return json.loads(answer.output)


def _frame_of(answer: Dict[str, Any], rows: List[Dict[str, Any]]) -> Frame:
    return _frame.frame(rows, {key: value for key, value in answer.items() if key != 'results'})


def ask(command: str, *operands: Value, **options: Option) -> Any:
    """The answer of a command as its JSON says it: ask("cheapest", delay=0.1, messages=2).

    The commands are compare, replay, price, share, tune, frontier, fluid, run, results and policies."""
    return _ask(command, operands, options)


def compare(servers: Union[int, str, None] = None, load: Union[float, str, None] = None,
            policies: Union[str, Sequence[str], None] = None, *, progress: Optional[Progress] = None,
            **options: Option) -> Frame:
    """Simulates each policy on the same fleet with the same arrivals: one row for each, best first.

    servers: a number (100 if not given), or groups COUNTxSPEED: "50x1,50x10".
    load: of the fleet, 0.9 if not given.
    policies: "jiq", or ["jiq", "pod:d=3"]; all that fit if not given.
    progress: called with the part of the work that is done, 0 to 1, from any thread.
    options: service="lognormal(4)", jobs=500_000, precision=0.01, seed=2, threads=1, ...

    Times are in mean service times. attrs has what was compared: spec, settings, version."""
    answer = _ask('compare', [], {'servers': servers, 'load': load, 'policy': policies, **options}, progress)
    return _frame_of(answer, [_frame.flag(_frame.flat(row)) for row in answer['results']])


def _compared(answer: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Ratios to the baseline are flagged too, where either of the two results is doubted."""
    base = answer['experiment']['baseline']
    doubts = {str(row['point']): set(row['doubts']) for row in answer['results'] if row['label'] == base}
    rows = []
    for row in answer['results']:
        doubted = (set(row['doubts']) | doubts[str(row['point'])]) - {'precision'}
        rows.append(_frame.flag(_frame.flat(row)))
        rows[-1]['ratio.flag'] = '!' if doubted else ''
    return rows


def run(file: File, *, db: Optional[File] = None, quick: bool = False, full: bool = False,
        progress: Optional[Progress] = None, **options: Option) -> Frame:
    """Runs an experiment file: one row for each point of its sweep and policy.

    Every trial is kept in `db` (NAME.db here, after NAME.yaml, if not given), so that an interrupted run goes
    on where it was when it is called again. attrs has the experiment, and its claims and findings with their
    verdicts."""
    answer = _ask('run', [file], {'db': db, 'quick': quick, 'full': full, **options}, progress)
    return _frame_of(answer, _compared(answer))


def _replayed(answer: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What the target needs stands beside the replay of each policy, as target.servers and so on. Doubts of
    either are doubts of the row, and so is what is wrong with the times of the log."""
    times = answer['times']
    rows = [_frame.flat(row) for row in answer['results']]
    needs = answer['target'].pop('policies') if answer['target'] else [{}] * len(rows)
    for row, need in zip(rows, needs):
        assert need.pop('policy', row['policy']) == row['policy']  # both are in the order of the results
        more = need.pop('doubts', []) + ([f"service times {times['kind']}"] if times['doubtful'] else [])
        row['doubts'] += [doubt for doubt in more if doubt not in row['doubts']]
        need.pop('service_times', None)
        row.update(_frame.flat({'target': need} if need else {}))
    return [_frame.flag(row) for row in rows]


def replay(logs: Union[File, Sequence[File]], target: Optional[str] = None,
           servers: Union[int, str, None] = None, policies: Union[str, Sequence[str], None] = None, *,
           progress: Optional[Progress] = None, **options: Option) -> Frame:
    """Lets each policy serve the requests of access logs: one row for each, best first.

    logs: a file, or several.
    target: "p99=2s" finds how many servers each policy needs; the answer is in the columns target.*.
    servers: the fleet, that of the log if not given.
    options: speedup=2, slots=8, service_field="duration:ms", high="^/checkout", report="page.html", ...

    Times are in seconds. service_times says what they rest on. attrs has what was read and what it asks of
    the fleet: log, times, demand, spec, target, history."""
    files = [logs] if isinstance(logs, (str, os.PathLike)) else logs
    given: Dict[str, Option] = {'target': target, 'servers': servers, 'policy': policies, **options}
    answer = _ask('replay', files, given, progress)
    return _frame_of(answer, _replayed(answer))


def policies() -> Frame:
    """All policies: name, rule, cost a job, paper; their parameters as lists."""
    return _frame.frame([_frame.flat(row) for row in _ask('policies', [], {})], {'version': version})

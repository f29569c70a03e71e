# SPDX-License-Identifier: BSD-2-Clause
"""Ballast: which load-distribution policy keeps a fleet fast and stable, and what it costs.

    import ballast
    ballast.compare(servers=100, load=0.9)
    ballast.run("load.yaml")
    ballast.replay("access.log", target="p99=2s")
    ballast.figure("load.db"); ballast.report("load.db", "load.html")
    ballast.policies(); ballast.check("load.yaml"); ballast.fit("access.log"); ballast.paper("supermarket")

Answers are tables: pandas DataFrames where pandas is there, else ballast.Table with the same access to
columns. Every option of the program's commands is a keyword, with _ for -: help(ballast.compare) lists those
of compare. An estimate comes with its 95 % half-width in the column of the same name and .ci. A row whose
numbers are doubted has '!' in its column flag, and the reasons in doubts; where a queue grows without bound
there are no means but NaN, and verdict says unstable. What is wrong in a question raises ballast.Error, which
is a ValueError; about a file it is a FileNotFoundError, PermissionError or IsADirectoryError, too."""
import json
import os
import tempfile
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _experiment, _frame, _native, _policy, _words
from ._frame import Frame, Table
from ._native import DoubtWarning, Error, IsDirectory, NotFound, NotPermitted, Progress, version
from ._policy import Job, Rng, Route, Servers
from ._results import histograms, trials
from ._words import File, Option, Value

__all__ = ['DoubtWarning', 'Error', 'Frame', 'IsDirectory', 'Job', 'NotFound', 'NotPermitted', 'Rng',
           'Servers', 'Table', 'ask', 'check', 'compare', 'figure', 'fit', 'histograms', 'paper', 'policies',
           'replay', 'report', 'run', 'trials', 'version']
__version__ = version
for _public in DoubtWarning, Error, IsDirectory, Job, NotFound, NotPermitted, Rng, Servers, Table:
    _public.__module__ = __name__  # as they are known

# A name or the path of a file; a function route(servers, job, rng), or a class whose objects are called so.
Policy = Union[str, 'os.PathLike[str]', Route, 'type[Any]']


def _shown(ask: Callable[[], _native.Answer], files: Sequence[Value], level: int) -> str:
    """What the answer is. files: those that are read."""
    try:
        answer = ask()
    except Error as error:
        for file in files:
            if isinstance(file, (str, os.PathLike)):
                error = _native.file_error(error, file)
        raise error from None
    for text in answer.warnings:
        warnings.warn(text, DoubtWarning, stacklevel=level)
    return answer.output


def _output(words: Sequence[str], files: Sequence[Value], progress: Optional[Progress] = None,
            level: int = 5) -> str:
    """What the command prints."""
    return _shown(lambda: _native.run(words, progress), files, level)


def _ask(command: str, operands: Sequence[Value], options: Mapping[str, Option],
         progress: Optional[Progress] = None, deciders: Optional[_policy.Policies] = None) -> Any:
    if not _native.is_question(command):
        return json.loads(_output(_words.words(command, operands, options), operands, progress))
    settings = [(name, value or '') for name, value in _words.settings(command, options)]
    names = [_words.operand(value) for value in operands]
    return json.loads(_shown(lambda: _native.ask_question(command, names, settings, progress, deciders),
                             operands, 4))


def _frame_of(answer: Dict[str, Any], rows: List[Dict[str, Any]]) -> Frame:
    return _frame.frame(rows, {key: value for key, value in answer.items() if key != 'results'})


def ask(command: str, *operands: Value, **options: Option) -> Any:
    """The answer of a command as its JSON says it: ask("cheapest", delay=0.1, messages=2).

    The commands are compare, replay, price, share, tune, frontier, fluid, run, results and policies."""
    if command in ('check', 'figure', 'fit', 'paper', 'report'):
        raise Error(f'{command}: it has a function of its own: ballast.{command}')
    return _ask(command, operands, options)


def _names(policies: Union[Policy, Sequence[Policy], None]) -> Union[File, Sequence[File], None]:
    """Policies as the program knows them."""
    if policies is None or isinstance(policies, (str, os.PathLike)):
        return policies
    listed: Sequence[Policy] = [policies] if callable(policies) else policies
    if len(listed) == 0:
        raise Error('policies: the list is empty; leave it out for all that fit')
    return [_policy.name_of(policy) if callable(policy) else policy for policy in listed]


def _deciders(policies: Union[Policy, Sequence[Policy], None],
              options: Dict[str, Option]) -> Optional[_policy.Policies]:
    """Those that are functions. They run in one thread: the order of their calls is always the same."""
    if policies is None or isinstance(policies, (str, os.PathLike)):
        return None
    listed: Sequence[Policy] = [policies] if callable(policies) else policies
    functions = [policy for policy in listed if callable(policy)]
    if not functions:
        return None
    if options.setdefault('threads', 1) != 1:
        raise Error('threads: policies that are functions run in one thread; leave it out')
    return _policy.Policies(functions)


def _with_settings(row: Dict[str, Any], answer: Mapping[str, Any]) -> Dict[str, Any]:
    """What was asked for comes first, so that rows of several answers can be told apart."""
    asked = {name: _frame.number(text) for part in answer['settings'].values()
             for name, text in part.items() if name not in row}
    return {**asked, **row}


def compare(servers: Union[int, str, None] = None, load: Union[float, str, None] = None,
            policies: Union[Policy, Sequence[Policy], None] = None, *, progress: Optional[Progress] = None,
            **options: Option) -> Frame:
    """Simulates each policy on the same fleet with the same arrivals: one row for each, best first.

    servers: a number (100 if not given), or groups COUNTxSPEED: "50x1,50x10".
    load: of the fleet, 0.9 if not given.
    policies: "jiq", or ["jiq", "pod:d=3", "./mine.so"]; all that fit if not given. A function
        route(servers, job, rng) that returns the number of a server is a policy, too, to try it out: slow.
    progress: called with the part of the work that is done, 0 to 1, from any thread.

    Times are in mean service times. The settings that were given are columns. attrs has what was compared:
    spec, settings, version.

    options:"""
    deciders = _deciders(policies, options)
    given: Dict[str, Option] = {'servers': servers, 'load': load, 'policy': _names(policies), **options}
    answer = _ask('compare', [], given, progress, deciders)
    rows = [_with_settings(_frame.flag(_frame.flat(row)), answer) for row in answer['results']]
    return _frame_of(answer, rows)


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


def run(file: Union[File, Mapping[str, Any]], *, db: Optional[File] = None, quick: bool = False,
        full: bool = False, progress: Optional[Progress] = None, **options: Option) -> Frame:
    """Runs an experiment file: one row for each point of its sweep and policy.

    Every trial is kept in `db` (NAME.db here, after NAME.yaml, if not given), so that an interrupted run goes
    on where it was when it is called again. attrs has the experiment, and its claims and findings with their
    verdicts. A dictionary with the fields of such a file will do, too; then nothing is kept unless `db` is
    given.

    options:"""
    given: Dict[str, Option] = {'quick': quick, 'full': full, **options}
    if isinstance(file, Mapping):
        with _experiment.written(file) as path:
            answer = _ask('run', [path], {'db': db or path + '.db', **given}, progress)
    else:
        answer = _ask('run', [file], {'db': db, **given}, progress)
    return _frame_of(answer, _compared(answer))


def figure(db: File, id: Optional[str] = None, *, format: str = 'svg', output: File = '.',
           **options: Option) -> List[str]:
    """Draws the figures that the experiments in a file of results ask for, or the one of that id, into the
    directory `output`. Returns the names of the files. Needs gnuplot.

    options:"""
    fixed = [f'--format={format}', f'--output={os.fspath(output)}']
    words = _words.words('figure', [db] if id is None else [db, id], options, fixed)
    return _output(words, [db], level=4).splitlines()


def report(db: File, output: Optional[File] = None) -> str:
    """A page about the experiments in a file of results: their claims, figures and tables. Returns the name
    of the file `output` that it was written to; if none is given, the page itself, as HTML."""
    fixed = [] if output is None else [f'--output={os.fspath(output)}']
    page = _output(_words.words('report', [db], {}, fixed), [db], level=4)
    return page if output is None else os.fspath(output)


def fit(logs: Union[File, Sequence[File]], output: Optional[File] = None, *,
        progress: Optional[Progress] = None, **options: Option) -> Dict[str, Any]:
    """Fits a workload to access logs. In the answer `experiment` is the text of an experiment file, which is
    written to `output` if that is given; the rest says how well each law fits.

    options:"""
    files = [logs] if isinstance(logs, (str, os.PathLike)) else logs
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'fit.yaml') if output is None else os.fspath(output)
        words = _words.words('fit', files, options, ['--format=json', f'--output={path}'])
        answer: Dict[str, Any] = json.loads(_output(words, files, progress, level=4))
        with open(path, encoding='utf-8') as file:
            return {**answer, 'experiment': file.read()}


def check(*files: Union[File, Mapping[str, Any]]) -> List[str]:
    """The mistakes in experiment files, or in dictionaries with their fields: a line for each. Without any
    the list is empty. Nothing is run."""
    mistakes: List[str] = []
    for file in files:
        try:
            if isinstance(file, Mapping):
                with _experiment.written(file) as path:
                    _output(_words.words('check', [path], {}, []), [])
            else:
                _output(_words.words('check', [file], {}, []), [file])
        except (NotFound, NotPermitted, IsDirectory):
            raise
        except Error as error:
            mistakes += str(error).splitlines()
    return mistakes


def paper(name: Optional[str] = None, *, quick: bool = False, full: bool = False,
          output: Optional[File] = None, progress: Optional[Progress] = None, **options: Option) -> Frame:
    """Runs a paper's experiments: one row for each claim, with its verdict. Results, figures and a page are
    put into the directory `output` (NAME, NAME-quick or NAME-full here, if not given); an interrupted run
    goes on from there. Without a name: one row for each paper that there is.

    options:"""
    fixed = ['--format=json'] + ([] if output is None else [f'--output={os.fspath(output)}'])
    given: Dict[str, Option] = {'quick': quick, 'full': full, **options}
    words = _words.words('paper', [] if name is None else [name], given, fixed)
    answer = json.loads(_output(words, [], progress, level=4))
    if name is None:
        return _frame.frame(answer, {'version': version})
    groups = {key: value for key, value in answer.items() if isinstance(value, list)}
    rows = [{'group': group, **_frame.flat(row)} for group, claims in groups.items() for row in claims]
    return _frame.frame(rows, {key: value for key, value in answer.items() if key not in groups})


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
           servers: Union[int, str, None] = None, policies: Union[File, Sequence[File], None] = None, *,
           progress: Optional[Progress] = None, **options: Option) -> Frame:
    """Lets each policy serve the requests of access logs: one row for each, best first.

    logs: a file, or several.
    target: "p99=2s" finds how many servers each policy needs; the answer is in the columns target.*.
    servers: the fleet, that of the log if not given.

    Times are in seconds. service_times says what they rest on. attrs has what was read and what it asks of
    the fleet: log, times, demand, spec, target, history.

    options:"""
    files = [logs] if isinstance(logs, (str, os.PathLike)) else logs
    if _deciders(policies, {}):
        raise Error('policies: functions are for compare; a log is replayed under a policy of C')
    given: Dict[str, Option] = {'target': target, 'servers': servers, 'policy': _names(policies), **options}
    answer = _ask('replay', files, given, progress)
    return _frame_of(answer, _replayed(answer))


def policies() -> Frame:
    """All policies: name, rule, cost a job, paper; their parameters as lists."""
    return _frame.frame([_frame.flat(row) for row in _ask('policies', [], {})], {'version': version})


def _document() -> None:
    """The options of a command are those that its help lists."""
    for function in compare, replay, run, figure, fit, paper:
        text = _words.help_of(function.__name__, {'policy': 'policies'})
        function.__doc__ = f'{function.__doc__}\n{text}'


_document()

# SPDX-License-Identifier: BSD-2-Clause
"""Rows of JSON as a table of columns: a pandas DataFrame where pandas is there, else a small Table whose
columns are numpy arrays, or lists without numpy."""
import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Sequence, Union, overload

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]
try:
    import pandas
except ImportError:
    pandas = None

__all__ = ['Frame', 'Table', 'flag', 'flat', 'frame', 'number']

# Whole numbers; every other number is a float, also where it happens to be whole.
_COUNTS = {'servers', 'slots', 'replications', 'replication', 'count', 'jobs', 'events', 'seed',
           'target.servers', 'target.servers_low', 'target.servers_high', 'target.fleets_tried'}
# Metrics that JSON has in another place than their names say.
_MOVED = {'lost': 'jobs.lost', 'refused': 'jobs.refused', 'gave_up': 'jobs.gave_up',
          'failed': 'jobs.failed', 'power.energy_per_job': 'energy.per_job',
          'fluid_distance': 'fluid.distance', 'memory_bits': 'memory.bits'}
_METRICS = {**_MOVED, **{f'{old}.ci': new + '.ci' for old, new in _MOVED.items()},
            'load.outlasted_curve': 'outlasted_curve'}
# What says whom a row is about and how far its numbers can be trusted stands before them.
_FIRST = ('policy', 'label', 'flag', 'verdict', 'doubts')


class Table:
    """Columns by name: table['response.mean'], table[['policy', 'flag']], len(table) rows."""

    def __init__(self, columns: Mapping[str, Any], attrs: Mapping[Any, Any]) -> None:
        self._columns = dict(columns)
        self.attrs: Dict[Any, Any] = dict(attrs)

    @property
    def columns(self) -> List[str]:
        return list(self._columns)

    @overload
    def __getitem__(self, key: str) -> Any: ...

    @overload
    def __getitem__(self, key: Sequence[str]) -> 'Table': ...

    def __getitem__(self, key: Union[str, Sequence[str]]) -> Any:
        if isinstance(key, str):
            return self._columns[key]
        return Table({name: self._columns[name] for name in key}, self.attrs)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def rows(self) -> List[Dict[str, Any]]:
        return [dict(zip(self._columns, values)) for values in zip(*self._columns.values())]

    def __repr__(self) -> str:
        return _text_of(self._columns)


# What every answer is to whoever checks types; without pandas it is a Table.
if TYPE_CHECKING:
    from pandas import DataFrame as Frame
else:
    Frame = Table if pandas is None else pandas.DataFrame


def _cell(value: Any) -> str:
    return format(value, '.6g') if isinstance(value, float) else str(value)


def _text_of(columns: Mapping[str, Any], room: int = 110) -> str:
    """As many of the first columns as fit, aligned."""
    lines: List[str] = []
    for shown, (name, values) in enumerate(columns.items()):
        cells = [name] + [_cell(value) for value in values]
        width = max(map(len, cells))
        left = all(isinstance(value, str) for value in values)
        padded = [cell.ljust(width) if left else cell.rjust(width) for cell in cells]
        if lines and len(lines[0]) + 2 + width > room:
            lines.append(f'... {len(columns) - shown} more columns')
            break
        lines = [a + '  ' + b for a, b in zip(lines, padded)] if lines else padded
    return '\n'.join(line.rstrip() for line in lines)


# ---- from JSON ----

def _spread(name: str, value: Any, into: Dict[str, Any]) -> None:
    """response: {mean, ci, p99, p99_ci} is response.mean, response.mean.ci, response.p99, response.p99.ci."""
    if name.startswith('other_logs.'):
        into[name + '.low'], into[name + '.high'] = value
    elif not isinstance(value, dict):
        into[name] = value
    elif set(value) == {'mean', 'ci'}:
        into[name], into[name + '.ci'] = value['mean'], value['ci']
    else:
        before = ''
        for key, part in value.items():
            if key == 'ci':
                into[f'{name}.{before}.ci'] = part
            elif key.endswith('_ci'):
                into[f'{name}.{key[:-3]}.ci'] = part
            else:
                _spread(f'{name}.{key}', part, into)
                before = key


def flat(row: Mapping[str, Any]) -> Dict[str, Any]:
    """A row whose members are texts, numbers and lists."""
    spread: Dict[str, Any] = {}
    for key, value in row.items():
        if key == 'point':
            spread.update(value)
        elif key.endswith('_ci'):  # of a number beside it
            spread[key[:-3] + '.ci'] = value
        elif key != 'metrics' and not (key == 'theory' and value is None):
            _spread(key, value, spread)
    result = {_METRICS.get(name, name.removeprefix('classes.')): value for name, value in spread.items()}
    for name, part in row.get('metrics', {}).items():  # all of them, by their names
        result[name], result[name + '.ci'] = part['mean'], part['ci']
    return result


def flag(row: Dict[str, Any]) -> Dict[str, Any]:
    """The row of a result with the marks that the tables of the program have: '!' where there is a doubt, '?'
    where nobody knows whether it is stable."""
    row['flag'] = ('?' if row.get('verdict') == 'undecided' else '') + ('!' if row['doubts'] else '')
    row['doubts'] = ', '.join(row['doubts'])
    return row


def number(text: str) -> Any:
    """The value of a setting: a number where it is one."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _column(name: str, values: List[Any]) -> Any:
    known = [value for value in values if value is not None]
    if values and all(isinstance(value, bool) for value in values):
        return numpy.array(values) if numpy else values
    if _is_numeric(known):
        if name in _COUNTS and len(known) == len(values) and all(value == int(value) for value in known):
            return numpy.array(values, dtype=numpy.int64) if numpy else values
        plain = [math.nan if value is None else float(value) for value in values]
        return numpy.array(plain) if numpy else plain
    if numpy and all(isinstance(value, list) and _is_numeric(value) for value in known):
        values = [numpy.array(value or [], dtype=float) for value in values]
    return _objects(values) if numpy else values


def _is_numeric(values: List[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _objects(values: List[Any]) -> Any:
    column = numpy.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        column[i] = value
    return column


def _order(rows: Sequence[Mapping[str, Any]]) -> List[str]:
    """Settings that are swept, whom the row is about and its flags, numbers, and lists at the end."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lists = {name for row in rows for name, value in row.items() if isinstance(value, list)}
    first = [name for name in _FIRST if name in names]
    points = names[:min(map(names.index, first), default=0)]
    rest = [name for name in names if name not in points + first]
    return (points + first + [name for name in rest if name not in lists]
            + [name for name in rest if name in lists])


def frame(rows: Sequence[Mapping[str, Any]], attrs: Mapping[Any, Any]) -> Frame:
    columns = {name: _column(name, [row.get(name) for row in rows]) for name in _order(rows)}
    if pandas is None:
        return Table(columns, attrs)
    data = pandas.DataFrame(columns)
    data.attrs.update(attrs)
    return data

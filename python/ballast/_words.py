"""Keyword arguments as the words of a command line: pod_size=2 is --pod-size=2."""
import numbers
import os
from typing import Iterable, List, Mapping, Sequence, Union

from ._native import Error

File = Union[str, 'os.PathLike[str]']
Value = Union[File, int, float]
Option = Union[Value, bool, None, Sequence[Value]]

# What would take the answer away, or spoil it.
_OURS = {
    'format': 'the answer comes as a table; leave it out',
    'output': 'the answer is returned; write it with its to_csv, or with print',
    'quiet': 'nothing is printed; leave it out',
    'help': 'see help(ballast), and docs/python.md for all options',
    'dry_run': 'it only prints; use the program',
    'list': 'it only prints; use the program',
}

# What there is one of, though others may be given several times.
_ONCE = {'servers', 'load', 'jobs', 'target', 'service', 'seed'}


def _text(name: str, value: Value) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))  # the shortest text that reads back the same
    raise Error(f'{name}: a text or a number is wanted, not {value!r}')


def _values(name: str, given: Option) -> List[str]:
    if given is None or given is False:
        return []
    if isinstance(given, (str, os.PathLike, numbers.Real)):
        return [f'--{name}={_text(name, given)}']
    if isinstance(given, Iterable) and name in _ONCE:
        raise Error(f'{name}: a text or a number is wanted, not {given!r}')
    if isinstance(given, Iterable):
        return [f'--{name}={_text(name, value)}' for value in given]
    raise Error(f'{name}: a text, a number or a list of them is wanted, not {given!r}')


def words(command: str, operands: Sequence[Value], options: Mapping[str, Option]) -> List[str]:
    """Options first, so that no operand is taken for one; those without a value behind the others, so that
    none of these is taken for it."""
    result = [command, '--format=json']
    flags: List[str] = []
    for key, given in options.items():
        name = key.replace('_', '-')
        if key in _OURS:
            raise Error(f'{key}: {_OURS[key]}')
        if given is True:
            flags.append(f'--{name}')
        else:
            result += _values(name, given)
    return result + flags + ['--'] + [_text('operand', operand) for operand in operands]

# SPDX-License-Identifier: BSD-2-Clause
"""Keyword arguments as settings of a question, or as the words of a command line: pod_size=2 is pod-size, or
--pod-size=2. What options there are is asked of the library."""
import functools
import numbers
import os
import re
import textwrap
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _native
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
    'schema': 'it only prints; use the program',
    'fields': 'it only prints; use the program',
}

# What there is one of, though others may be given several times.
_ONCE = {'servers', 'load', 'jobs', 'target', 'service', 'seed'}


class Described(NamedTuple):
    """An option as the help of its command describes it."""

    argument: Optional[str]  # None: it takes no value
    text: str


def _described(command: str) -> Dict[str, Described]:
    """The options of a command on files, from its help."""
    try:
        lines = _native.run_here([command, '--help']).output.splitlines()
    except Error:
        return {}
    found: Dict[str, Described] = {}
    last = ''
    for line in lines:
        option = re.match(r'  --([a-z0-9-]+)(?: (\S+))?(?:  +(.*))?$', line)
        if option:
            last = option[1].replace('-', '_')
            found[last] = Described(option[2], option[3] or '')
        elif last and line.startswith(' ' * 20):
            found[last] = found[last]._replace(text=f'{found[last].text} {line.strip()}'.strip())
        else:
            last = ''
    return found


@functools.lru_cache(maxsize=None)
def options_of(command: str) -> Dict[str, Described]:
    """All of a question or a command, by their names here; none if there is no such one."""
    if not _native.is_question(command):
        return _described(command)
    return {name.replace('-', '_'): Described(argument, text)
            for name, argument, text in _native.settings_of(command)}


def help_of(command: str, named: Mapping[str, str]) -> str:
    """The options of a command as keywords, for the documentation of its function. named: those that are
    called otherwise there."""
    lines = []
    for name, option in options_of(command).items():
        if name in _OURS and name not in named:
            continue
        left = f'    {named.get(name, name)}={option.argument or "True"}'
        gap = ' ' * max(2, 28 - len(left))
        lines += textwrap.wrap(left + gap + option.text, 110, subsequent_indent=' ' * 28)
    return '\n'.join(lines)


def _text(name: str, value: Value) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))  # the shortest text that reads back the same
    raise Error(f'{name}: a text or a number is wanted, not {value!r}')


def _values(name: str, given: Option) -> List[str]:
    if isinstance(given, (str, os.PathLike, numbers.Real)):
        return [_text(name, given)]
    if isinstance(given, Iterable) and name in _ONCE:
        raise Error(f'{name}: a text or a number is wanted, not {given!r}')
    if isinstance(given, Iterable):
        values = [_text(name, value) for value in given]
        if values:
            return values
        raise Error(f'{name}: the list is empty; leave it out')
    raise Error(f'{name}: a text, a number or a list of them is wanted, not {given!r}')


def _check_bool(key: str, given: bool, option: Optional[Described]) -> None:
    if option and option.argument:
        raise Error(f'{key}: a value is wanted, not {given}: {option.argument}, {option.text}')


def settings(command: str, options: Mapping[str, Option]) -> List[Tuple[str, Optional[str]]]:
    """Names and values, in the order in which they are given; those without a value last, with None."""
    found: List[Tuple[str, Optional[str]]] = []
    flags: List[Tuple[str, Optional[str]]] = []
    for key, given in options.items():
        name = key.replace('_', '-')
        if key in _OURS:
            raise Error(f'{key}: {_OURS[key]}')
        if given is None:
            continue
        if isinstance(given, bool):
            _check_bool(key, given, options_of(command).get(key))
            flags += [(name, None)] if given else []
        else:
            found += [(name, value) for value in _values(name, given)]
    return found + flags


def operand(value: Value) -> str:
    return _text('operand', value)


def words(command: str, operands: Sequence[Value], options: Mapping[str, Option],
          fixed: Sequence[str] = ('--format=json',)) -> List[str]:
    """Of a command line. Options first, so that no operand is taken for one; those without a value behind the
    others, so that none of these is taken for it. fixed: what we add."""
    named = [f'--{name}' if value is None else f'--{name}={value}'
             for name, value in settings(command, options)]
    return [command, *fixed, *named, '--', *map(operand, operands)]

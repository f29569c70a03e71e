# SPDX-License-Identifier: BSD-2-Clause
"""An experiment that is given as a dictionary, as a file that the program can read: JSON is YAML."""
import contextlib
import json
import os
import re
import tempfile
from typing import Any, Iterator, List, Mapping

from ._native import Error


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy, and paths."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, 'tolist'):
        return value.tolist()
    raise Error(f'experiment: a text, a number, a list or a dictionary is wanted, not {value!r}')


def _found(value: Any, policy: bool = False) -> Any:
    """The same with files named from the root: those of an experiment are looked for next to it, and here
    that is the current directory."""
    if isinstance(value, Mapping):
        return {key: _found(part, policy or key == 'policies') for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_found(part, policy) for part in value]
    if isinstance(value, str):
        value = re.sub(r'^file\(([^/)][^)]*)\)$', lambda named: f'file({os.path.abspath(named[1])})', value)
        if policy and re.search(r'^[^/].*\.so(:|$)', value):
            return os.path.join(os.getcwd(), value)
    return value


@contextlib.contextmanager
def written(experiment: Mapping[str, Any]) -> Iterator[str]:
    """The name of the file, while it is there. Errors do not name it."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'experiment.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(_found(experiment), file, ensure_ascii=False, indent=1, default=_plain)
        try:
            yield path
        except Error as error:
            lines: List[str] = str(error).splitlines()
            raise Error('\n'.join(re.sub(re.escape(path) + r'(:\d+)?: ', '', line)
                                  for line in lines)) from None

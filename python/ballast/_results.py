# SPDX-License-Identifier: BSD-2-Clause
"""What results were computed from: the trials in a file of results, and their histograms."""
import json
from typing import Any, Dict, Optional

from . import _frame, _native, _words
from ._frame import Frame
from ._words import File


def _raw(file: File, what: str, run: Optional[int]) -> Frame:
    words = _words.words('results', [file], {what: True, 'run': run})
    try:
        answer: Dict[str, Any] = json.loads(_native.run(words).output)
    except _native.Error as error:
        raise _native.file_error(error, file) from None
    return _frame.frame(answer.pop(what), answer)


def trials(file: File, run: Optional[int] = None) -> Frame:
    """The values of every replication in a file of results: one row for each trial that counts.

    The columns are those of `ballast results FILE.db --trials`: axes, label, seed, policy, replication, and
    every metric by its name; queue.tail and quarters are arrays.
    run: its number in the list of `ballast results FILE.db`, the last one if not given."""
    return _raw(file, 'trials', run)


def histograms(file: File, run: Optional[int] = None) -> Frame:
    """The distributions of every replication: one row for each bin that is not empty.

    distribution says of what: response, waiting, high.response, ...; count values were in [low, high)."""
    return _raw(file, 'histograms', run)

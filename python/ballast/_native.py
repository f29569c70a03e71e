"""The commands of Ballast in this process: the shared library beside this file, whose functions are told in
cli/embedded.h. One call runs one command; the interpreter is free meanwhile."""
import ctypes
import os
import pathlib
import threading
from typing import Any, Callable, List, NamedTuple, Optional, Sequence

Progress = Callable[[float], None]

_OUTCOME, _BAD_INPUT = 1, 2  # exit statuses of commands, besides 0 and that of being interrupted


class Error(ValueError):
    """Something in the question is wrong; the text says in one line what, and what would be right."""


class DoubtWarning(UserWarning):
    """The library says something about its answer, in one line."""


class Answer(NamedTuple):
    output: str
    warnings: List[str]
    good: bool  # False: an outcome that was asked to be good is not, such as a claim that does not hold


_TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)


class _Asker(ctypes.Structure):
    _fields_ = [('stop', ctypes.POINTER(ctypes.c_int)), ('progress', _TELL), ('context', ctypes.c_void_p)]


class _Answer(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('output', ctypes.c_char_p), ('failure', ctypes.c_char_p),
                ('warnings', ctypes.c_char_p)]


_library = ctypes.CDLL(str(pathlib.Path(__file__).with_name('libballast-commands.so')))
_library.bal_version.restype = ctypes.c_char_p
_library.bal_command_run.restype = ctypes.c_int
_library.bal_command_run.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_Asker),
                             ctypes.POINTER(_Answer)]
_library.bal_command_result_fini.restype = None
_library.bal_command_result_fini.argtypes = [ctypes.POINTER(_Answer)]

version: str = _library.bal_version().decode()


def _encode(word: str) -> bytes:
    if '\0' in word:
        raise Error(f'{word!r}: there is a character NUL in it, which no name and no value can have')
    return os.fsencode(word)


class _Call:
    """A command under way in a thread of its own, so that this one can be interrupted."""

    def __init__(self, words: Sequence[str], progress: Optional[Progress]) -> None:
        self.words = [_encode(word) for word in words]
        self.progress = progress
        self.stop = ctypes.c_int(0)
        self.done = threading.Event()
        self.failure: Optional[BaseException] = None
        self.status, self.output, self.reason, self.warnings = -1, '', '', ''
        self.thread = threading.Thread(target=self.run, daemon=True)

    def tell(self, _context: Any, part: float) -> None:
        try:
            if self.progress and not self.failure:
                self.progress(part)
        except BaseException as failure:  # it cannot pass through C: it is raised when the command has ended
            self.failure = failure
            self.stop.value = 1

    def ask(self) -> None:
        words = (ctypes.c_char_p * (len(self.words) + 1))(*self.words, None)
        tell = _TELL(self.tell) if self.progress else _TELL(0)  # NULL
        asker = _Asker(ctypes.pointer(self.stop), tell, None)
        answer = _Answer()
        if _library.bal_command_run(len(self.words), words, ctypes.byref(asker), ctypes.byref(answer)):
            raise MemoryError('not enough memory for the answer')
        self.status = answer.status
        self.output, self.reason, self.warnings = (
            text.decode('utf-8', 'replace') for text in (answer.output, answer.failure, answer.warnings))
        _library.bal_command_result_fini(ctypes.byref(answer))

    def run(self) -> None:
        try:
            self.ask()
        except BaseException as failure:
            self.failure = failure
        finally:
            self.done.set()

    def wait(self) -> None:
        """Waits for the end. Interrupted, it stops the command first, so that nothing goes on unseen."""
        self.thread.start()
        try:
            self.done.wait()
        except BaseException:
            self.stop.value = 1
            self.done.wait()
            raise
        finally:
            if self.done.is_set():
                self.thread.join()


def ask(words: Sequence[str], progress: Optional[Progress] = None) -> Answer:
    """Runs the command and returns what it prints. `progress` is called with the part that is done."""
    call = _Call(words, progress)
    call.wait()
    if call.failure:
        raise call.failure
    if call.status == _BAD_INPUT:
        raise Error(call.reason)
    return Answer(call.output, call.warnings.splitlines(), call.status != _OUTCOME)

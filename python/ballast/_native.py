# SPDX-License-Identifier: BSD-2-Clause
"""The commands of Ballast in this process: the shared library next to this file. Its functions are described
in cli/embedded.h. One call runs one command; the interpreter is free meanwhile."""
import ctypes
import os
import pathlib
import threading
from typing import Any, Callable, List, NamedTuple, Optional, Protocol, Sequence, Type

Progress = Callable[[float], None]

_OUTCOME, _BAD_INPUT = 1, 2  # exit statuses of commands, besides 0 and that of being interrupted


class Error(ValueError):
    """Something in the question is wrong; the text says in one line what, and what would be right."""


class NotFound(Error, FileNotFoundError):
    """A file is not there."""

    __str__ = Error.__str__


class NotPermitted(Error, PermissionError):
    """A file may not be read."""

    __str__ = Error.__str__


class IsDirectory(Error, IsADirectoryError):
    """A directory stands where a file is wanted."""

    __str__ = Error.__str__


class DoubtWarning(UserWarning):
    """The library says something about its answer, in one line."""


class Answer(NamedTuple):
    output: str
    warnings: List[str]
    good: bool  # False: an outcome that was asked to be good is not, such as a claim that does not hold


_TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)


_START = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
_ROUTE = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p,
                          ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)


class Deciders(Protocol):
    """Policies that this program decides itself: _policy.Policies."""

    names: List[str]
    failure: Optional[BaseException]

    def start(self, policy: int, servers: int) -> int: ...

    def route(self, policy: int, state: int, fleet: int, count: int, rank: int, stream: int) -> int: ...


class _Asker(ctypes.Structure):
    _fields_ = [('stop', ctypes.POINTER(ctypes.c_int)), ('progress', _TELL), ('context', ctypes.c_void_p),
                ('policies', ctypes.POINTER(ctypes.c_char_p)), ('start', _START), ('route', _ROUTE)]


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

for _name, _result, _arguments in (
        ('fleet_probe', ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_uint32]),
        ('fleet_work', ctypes.c_double, [ctypes.c_void_p, ctypes.c_uint32]),
        ('fleet_weight', ctypes.c_double, [ctypes.c_void_p, ctypes.c_uint32]),
        ('fleet_is_open', ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint32]),
        ('fleet_open', ctypes.c_uint32, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint32)]),
        ('random', ctypes.c_uint64, [ctypes.c_void_p])):
    _function = getattr(_library, 'bal_command_' + _name)
    _function.restype, _function.argtypes = _result, _arguments
fleet_probe: Callable[[int, int], int] = _library.bal_command_fleet_probe
fleet_work: Callable[[int, int], float] = _library.bal_command_fleet_work
fleet_weight: Callable[[int, int], float] = _library.bal_command_fleet_weight
fleet_is_open: Callable[[int, int], bool] = _library.bal_command_fleet_is_open
random_bits: Callable[[Optional[int]], int] = _library.bal_command_random


def fleet_open(fleet: int, servers: int) -> List[int]:
    numbers = (ctypes.c_uint32 * servers)()
    return numbers[:_library.bal_command_fleet_open(fleet, numbers)]


version: str = _library.bal_version().decode()


def _encode(word: str) -> bytes:
    if '\0' in word:
        raise Error(f'{word!r}: there is a character NUL in it, which no name and no value can have')
    return os.fsencode(word)


class _Call:
    """A command under way in a thread of its own, so that this one can be interrupted."""

    def __init__(self, words: Sequence[str], progress: Optional[Progress] = None,
                 deciders: Optional[Deciders] = None) -> None:
        self.words = [_encode(word) for word in words]
        self.progress = progress
        self.deciders = deciders
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

    def asker(self) -> _Asker:
        tell = _TELL(self.tell) if self.progress else _TELL(0)  # NULL
        asker = _Asker(ctypes.pointer(self.stop), tell, None)
        if self.deciders:
            names = [_encode(name) for name in self.deciders.names]
            asker.policies = (ctypes.c_char_p * (len(names) + 1))(*names, None)
            asker.start = _START(self.start)
            asker.route = _ROUTE(self.route)
        return asker

    def start(self, _context: Any, policy: int, servers: int) -> int:
        assert self.deciders
        return self.stopped(self.deciders.start(policy, servers))

    def route(self, _context: Any, policy: int, state: int, fleet: int, count: int, rank: int,
              stream: int) -> int:
        assert self.deciders
        return self.stopped(self.deciders.route(policy, state, fleet, count, rank, stream))

    def stopped(self, answer: int) -> int:
        assert self.deciders
        if self.deciders.failure and not self.failure:
            self.failure = self.deciders.failure
            self.stop.value = 1
        return answer

    def ask(self) -> None:
        words = (ctypes.c_char_p * (len(self.words) + 1))(*self.words, None)
        asker = self.asker()
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


def ask(words: Sequence[str], progress: Optional[Progress] = None,
        deciders: Optional[Deciders] = None) -> Answer:
    """Runs the command and returns what it prints. `progress` is called with the part that is done."""
    call = _Call(words, progress, deciders)
    call.wait()
    return _answer_of(call)


def ask_here(words: Sequence[str]) -> Answer:
    """The same for what takes no time: in this thread."""
    call = _Call(words)
    call.run()
    return _answer_of(call)


def file_error(error: Error, path: 'os.PathLike[str] | str') -> Error:
    """An error about a file as Python's own, too: FileNotFoundError and so on."""
    kind: Type[Any] = Error
    name = os.fspath(path)
    if name not in str(error):
        return error
    if not os.path.exists(name):
        kind = NotFound
    elif os.path.isdir(name):
        kind = IsDirectory
    elif not os.access(name, os.R_OK):
        kind = NotPermitted
    if kind is Error:
        return error
    typed: Error = kind(str(error))
    setattr(typed, 'filename', name)
    return typed


def _answer_of(call: _Call) -> Answer:
    if call.failure:
        raise call.failure
    if call.status == _BAD_INPUT:
        raise Error(call.reason)
    return Answer(call.output, call.warnings.splitlines(), call.status != _OUTCOME)

# SPDX-License-Identifier: BSD-2-Clause
"""Ballast in this process: the shared library next to this file. Its functions are described in
ballast/question.h, and in cli/embedded.h what is no question: commands on files. One call asks one question
or runs one command; the interpreter is free meanwhile."""
import ctypes
import os
import pathlib
import threading
from typing import Any, Callable, List, NamedTuple, Optional, Protocol, Sequence, Tuple, Type

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
_DOING = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double)
_WARN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_bool)
_START = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
_ROUTE = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p,
                          ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)


class Deciders(Protocol):
    """Policies that this program decides itself: _policy.Policies."""

    names: List[str]
    failure: Optional[BaseException]

    def start(self, policy: int, servers: int) -> int: ...

    def route(self, policy: int, state: int, fleet: int, count: int, rank: int, stream: int) -> int: ...


class _Caller(ctypes.Structure):
    _fields_ = [('stop', ctypes.POINTER(ctypes.c_int)), ('progress', _TELL), ('context', ctypes.c_void_p)]


class _Host(ctypes.Structure):
    _fields_ = [('stop', ctypes.POINTER(ctypes.c_int)), ('progress', _DOING), ('warn', _WARN),
                ('context', ctypes.c_void_p), ('command', ctypes.c_char_p),
                ('policies', ctypes.POINTER(ctypes.c_char_p)), ('start', _START), ('route', _ROUTE)]


class _Error(ctypes.Structure):
    _fields_ = [('code', ctypes.c_int), ('text', ctypes.c_char * 512)]


class _Setting(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('argument', ctypes.c_char_p), ('help', ctypes.c_char * 600)]


class _Answer(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('output', ctypes.c_char_p), ('failure', ctypes.c_char_p),
                ('warnings', ctypes.c_char_p)]


_library = ctypes.CDLL(str(pathlib.Path(__file__).with_name('libballast-commands.so')))
_library.bal_version.restype = ctypes.c_char_p
_library.bal_command_run.restype = ctypes.c_int
_library.bal_command_run.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_Caller),
                                     ctypes.POINTER(_Answer)]
_library.bal_command_result_fini.restype = None
_library.bal_command_result_fini.argtypes = [ctypes.POINTER(_Answer)]

_POINTER = ctypes.POINTER(ctypes.c_void_p)


def _declare(name: str, result: Any, *arguments: Any) -> None:
    function = getattr(_library, name)
    function.restype, function.argtypes = result, arguments


_declare('bal_question_new', ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_Host), _POINTER,
         ctypes.POINTER(_Error))
_declare('bal_question_free', None, ctypes.c_void_p)
_declare('bal_question_set', ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
         ctypes.POINTER(_Error))
_declare('bal_question_setting_at', ctypes.c_bool, ctypes.c_void_p, ctypes.c_size_t,
         ctypes.POINTER(_Setting))
_declare('bal_question_run', ctypes.c_int, ctypes.c_void_p, _POINTER, ctypes.POINTER(_Error))
_declare('bal_answer_kind', ctypes.c_int, ctypes.c_void_p)
_declare('bal_answer_text', ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_declare('bal_answer_free', None, ctypes.c_void_p)
_declare('bal_question_fleet_probe', ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)
_declare('bal_question_fleet_work', ctypes.c_double, ctypes.c_void_p, ctypes.c_uint32)
_declare('bal_question_fleet_weight', ctypes.c_double, ctypes.c_void_p, ctypes.c_uint32)
_declare('bal_question_fleet_is_open', ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint32)
_declare('bal_question_fleet_open', ctypes.c_uint32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint32))
_declare('bal_question_random', ctypes.c_uint64, ctypes.c_void_p)
fleet_probe: Callable[[int, int], int] = _library.bal_question_fleet_probe
fleet_work: Callable[[int, int], float] = _library.bal_question_fleet_work
fleet_weight: Callable[[int, int], float] = _library.bal_question_fleet_weight
fleet_is_open: Callable[[int, int], bool] = _library.bal_question_fleet_is_open
random_bits: Callable[[Optional[int]], int] = _library.bal_question_random


def fleet_open(fleet: int, servers: int) -> List[int]:
    numbers = (ctypes.c_uint32 * servers)()
    return numbers[:_library.bal_question_fleet_open(fleet, numbers)]


version: str = _library.bal_version().decode()


def _encode(word: str) -> bytes:
    if '\0' in word:
        raise Error(f'{word!r}: there is a character NUL in it, which no name and no value can have')
    return os.fsencode(word)


class _Call:
    """What is under way in a thread of its own, so that this one can be interrupted."""

    def __init__(self, progress: Optional[Progress] = None) -> None:
        self.progress = progress
        self.stop = ctypes.c_int(0)
        self.done = threading.Event()
        self.failure: Optional[BaseException] = None
        self.status, self.output, self.reason = -1, '', ''
        self.warnings: List[str] = []
        self.thread = threading.Thread(target=self.run, daemon=True)

    def tell(self, part: float) -> None:
        try:
            if self.progress and not self.failure:
                self.progress(part)
        except BaseException as failure:  # it cannot pass through C: it is raised when the command has ended
            self.failure = failure
            self.stop.value = 1

    def ask(self) -> None:
        raise NotImplementedError

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

    def answer(self) -> Answer:
        if self.failure:
            raise self.failure
        if self.status == _BAD_INPUT:
            raise Error(self.reason)
        return Answer(self.output, self.warnings, self.status != _OUTCOME)


class _Command(_Call):
    def __init__(self, words: Sequence[str], progress: Optional[Progress] = None) -> None:
        super().__init__(progress)
        self.words = [_encode(word) for word in words]

    def ask(self) -> None:
        words = (ctypes.c_char_p * (len(self.words) + 1))(*self.words, None)
        tell = _TELL(lambda _context, part: self.tell(part)) if self.progress else _TELL(0)  # NULL
        caller = _Caller(ctypes.pointer(self.stop), tell, None)
        answer = _Answer()
        if _library.bal_command_run(len(self.words), words, ctypes.byref(caller), ctypes.byref(answer)):
            raise MemoryError('not enough memory for the answer')
        self.status = answer.status
        self.output, self.reason, warnings = (
            text.decode('utf-8', 'replace') for text in (answer.output, answer.failure, answer.warnings))
        self.warnings = warnings.splitlines()
        _library.bal_command_result_fini(ctypes.byref(answer))


class _Question(_Call):
    def __init__(self, name: str, settings: Sequence[Tuple[str, str]], progress: Optional[Progress],
                 deciders: Optional[Deciders]) -> None:
        super().__init__(progress)
        self.name = _encode(name)
        self.settings = [(_encode(key), _encode(value)) for key, value in settings]
        self.deciders = deciders

    def host(self) -> _Host:
        doing = _DOING(lambda _context, _what, part: self.tell(part)) if self.progress else _DOING(0)
        warn = _WARN(lambda _context, text, _of_answer: self.warnings.append(text.decode('utf-8', 'replace')))
        host = _Host(ctypes.pointer(self.stop), doing, warn, None, None)
        if self.deciders:
            names = [_encode(name) for name in self.deciders.names]
            host.policies = (ctypes.c_char_p * (len(names) + 1))(*names, None)
            host.start = _START(self.start)
            host.route = _ROUTE(self.route)
        return host

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
        host, question, error = self.host(), ctypes.c_void_p(), _Error()
        code = _library.bal_question_new(self.name, ctypes.byref(host), ctypes.byref(question),
                                         ctypes.byref(error))
        answer = ctypes.c_void_p()
        try:
            for key, value in self.settings:
                code = code or _library.bal_question_set(question, key, value, ctypes.byref(error))
            code = code or _library.bal_question_run(question, ctypes.byref(answer), ctypes.byref(error))
            if code:
                self.status, self.reason = _BAD_INPUT, error.text.decode('utf-8', 'replace')
            else:
                self.status = _library.bal_answer_kind(answer)
                self.output = _library.bal_answer_text(answer, None).decode('utf-8', 'replace')
        finally:
            _library.bal_answer_free(answer)
            _library.bal_question_free(question)


# The questions, and what stands behind the name of the command of each: the setting that it is.
_OPERANDS = {'compare': '', 'replay': 'log', 'cheapest': '', 'price': '', 'priority-share': '', 'share': '',
             'tune': 'what', 'stability': 'policy', 'frontier': 'policy', 'fluid': 'policy'}


def is_question(name: str) -> bool:
    return name in _OPERANDS


def ask_question(name: str, operands: Sequence[str], settings: Sequence[Tuple[str, str]],
                 progress: Optional[Progress] = None, deciders: Optional[Deciders] = None) -> Answer:
    """Asks the question and returns the answer as JSON. `progress` is called with the part that is done."""
    operand = _OPERANDS[name]
    most = len(operands) if operand == 'log' else 1 if operand else 0
    if len(operands) > most:
        raise Error(f"{name}: unexpected argument '{operands[most]}'")
    call = _Question(name, [*settings, *((operand, value) for value in operands)], progress, deciders)
    call.wait()
    return call.answer()


def settings_of(question: str) -> List[Tuple[str, Optional[str], str]]:
    """The settings of a question: name, what kind of value (None: it takes none), help."""
    pointer, setting = ctypes.c_void_p(), _Setting()
    found: List[Tuple[str, Optional[str], str]] = []
    if _library.bal_question_new(_encode(question), None, ctypes.byref(pointer), None):
        return []
    while _library.bal_question_setting_at(pointer, len(found), ctypes.byref(setting)):
        found.append((setting.name.decode(), setting.argument and setting.argument.decode(),
                      setting.help.decode()))
    _library.bal_question_free(pointer)
    return found


def run(words: Sequence[str], progress: Optional[Progress] = None) -> Answer:
    """Runs a command on files and returns what it prints."""
    call = _Command(words, progress)
    call.wait()
    return call.answer()


def run_here(words: Sequence[str]) -> Answer:
    """The same for what takes no time: in this thread."""
    call = _Command(words)
    call.run()
    return call.answer()


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

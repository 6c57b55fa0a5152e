"""Starts worker processes fast: a process imports some packages once, and each worker is a fork of it.

All processes of a campaign share it: when 12 processes each imported torch, a GPU had its first trial after half a
minute. No file of a user has run in the process that forks, and it has not used a GPU. It forks only while it has a
single thread, since a lock that another thread holds would stay taken in the fork for ever.

The caller's side is `Nursery`, the process's side is `main`, which unnamed_process.py calls. Knows processes and pipes;
it knows neither jobs nor libraries. Long, since both sides take part in each step of a start.
"""

import contextlib
import errno
import functools
import gc
import importlib
import json
import os
import secrets
import select
import signal
import socket
import struct
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kfuzz.common.errors import DeviceError
from kfuzz.common.numpy_threads import use_one_thread
from kfuzz.common.unnamed_process import START
from kfuzz.devices import cache
from kfuzz.devices.sandbox.box import Box, box_from, enter_for_compiler
from kfuzz.devices.worker import helping, worker
from kfuzz.devices.worker.printed import MOST_PRINTED, PrintedText
from kfuzz.devices.worker.worker import CommandProcess, Started, environment, start_command

NUMBER = struct.Struct("<q")
USER = struct.Struct("<3i")
"""Process, user and group at the other end of a socket."""
MOST_BYTES = 4096
MOST_CALLERS = 512
MOST_HELPED = 8
"""Processes that one sandboxed process may have asked for at any time."""
FILES = 6
"""That a caller sends: the worker's ends of three pipes, its folder, its variables and its standard error."""
BETWEEN_TRIES = 0.01
"""Seconds."""
EARLY = ("LD_", "PYTHON", "GLIBC_", "MALLOC_", "LANG", "LC_", "OMP_", "OPENBLAS_", "MKL_")
"""How the names of variables begin that a process reads as it begins, or as numpy is loaded."""
MOST_LASTING = 6
"""Lasting nurseries: the cpu device's, in a sandbox and not, and those of four libraries."""
THREADS = Path("/proc/self/task")


class ForkedProcess:
    """A fork of a nursery, from the side of its caller. The nursery waits for its end and writes the status to a pipe.

    The number of the process stays its own until that pipe is closed, so that no other process is killed instead.
    """

    def __init__(self, pid: int, requests: int, replies: int, status: int, printed: PrintedText) -> None:
        self.pid = pid
        self.printed: PrintedText | None = printed
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = os.fdopen(requests, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(replies, "rb")
        self._status = status

    def poll(self) -> int | None:
        """The status with which it has ended; None if it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.reap()
        return self.returncode

    def kill(self) -> None:
        """End it."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> int:
        """Wait for its end; return its status."""
        if self.returncode is None:
            held = os.read(self._status, NUMBER.size)
            self.returncode = NUMBER.unpack(held)[0] if held else -signal.SIGKILL  # the nursery was killed
            os.close(self._status)
        return self.returncode


class HelpedProcess(ForkedProcess):
    """A fork of a nursery that another fork of it has asked for, from a sandbox: no signal leaves that."""

    def kill(self) -> None:
        """End it: the nursery does so when nothing waits for its status any more."""
        if self.returncode is None:
            self.returncode = -signal.SIGKILL
            os.close(self._status)


def start_helped(module: str) -> Started:
    """Start a process from within a sandbox: the helper forks it, into a sandbox of the same kind."""
    requests, replies, printed = os.pipe(), os.pipe(), PrintedText(MOST_PRINTED)
    started = None
    try:
        started = helping.ask_to_start(module, [requests[0], replies[1], printed.end])
    finally:
        for one in (requests[0], replies[1]):
            os.close(one)
        printed.begin()
    if started is None:
        os.close(requests[1])
        os.close(replies[0])
        raise DeviceError("the sandbox starts no further process for this file")
    return HelpedProcess(started[0], requests[1], replies[0], started[1], printed)


class Nursery:
    """A process that has imported some packages, for as long as one of its callers lives; each worker is a fork of it.

    Callers of one `family` share it: the first of them starts it, and the others find it by the name of its socket. If
    a worker kills it, another one takes its place: a worker that is a child of the caller could kill that.
    """

    def __init__(
        self, packages: Sequence[str], variables: Mapping[str, str], family: str = "", is_boxed: bool = False
    ) -> None:  # fmt: skip
        self._packages, self._variables, self._is_boxed = packages, variables, is_boxed
        words = (f"{name}={value}" for name, value in variables.items())
        parts = (family or secrets.token_hex(), str(is_boxed), *packages, *words)
        self._address = b"\0" + cache.key(*parts)[:32].encode()
        self._begin()

    def _begin(self) -> None:
        """Connect to the process, or start it if there is none."""
        self._process: CommandProcess | None = None
        self._socket = socket.socket(socket.AF_UNIX)
        while not _connect(self._socket, self._address):
            with socket.socket(socket.AF_UNIX) as theirs:
                try:
                    theirs.bind(self._address)
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        raise
                    time.sleep(BETWEEN_TRIES)  # another caller begins at this moment
                    continue
                theirs.listen(MOST_CALLERS)
                self._socket.connect(self._address)  # so it has a caller when it begins
                with use_one_thread():
                    self._process = CommandProcess(
                        [sys.executable, "-c", START, "kfuzz.devices.worker.nursery", *self._packages],
                        stdin=theirs.fileno(),
                        env={**environment(self._is_boxed), **self._variables},
                        start_new_session=True,
                    )
                break
        self.close: Callable[[], object] = weakref.finalize(self, _close, self._socket, self._process)

    def start(self, module: str, variables: Mapping[str, str] | None = None, box: Box | None = None) -> Started:
        """Start a process that serves the backend of a module: a fork, or a new process where a fork is not safe.

        It has this process's folder, and these variables instead of those of the nursery; in this sandbox, if there is
        one, with the nursery as its helper.
        """
        started, is_asked = self._fork(module, variables, box)
        if not is_asked:
            self.close()
            self._begin()
            started, _ = self._fork(module, variables, box)
        return started or start_command(module, box)

    def _fork(
        self, module: str, variables: Mapping[str, str] | None, box: Box | None
    ) -> tuple[ForkedProcess | None, bool]:
        """A fork, if one is safe, and whether the nursery has answered."""
        requests, replies, status = os.pipe(), os.pipe(), os.pipe()
        printed = PrintedText(None if box is None else MOST_PRINTED)
        theirs = [requests[0], replies[1], status[1]]
        about = {
            "variables": None if variables is None else {**variables},
            "box": None if box is None else box.as_dict(),
        }
        try:
            theirs += [os.open(".", os.O_PATH), _written(json.dumps(about))]
            socket.send_fds(self._socket, [module.encode()], [*theirs, printed.end])
            answer = self._socket.recv(NUMBER.size)
        except OSError:
            answer = b""
        finally:
            for one in theirs:
                os.close(one)
            printed.begin()
        pid = NUMBER.unpack(answer)[0] if answer else 0
        if pid:
            return ForkedProcess(pid, requests[1], replies[0], status[0], printed), True
        for one in (requests[1], replies[0], status[0]):
            os.close(one)
        return None, bool(answer)


def lasting_nursery(packages: Sequence[str], is_boxed: bool, variables: Mapping[str, str]) -> Nursery:
    """The nursery of these packages that stays up for this process, whatever is forked next.

    Start its workers with variables of their own: it keeps those of its first caller. Only variables that a process
    reads as it begins make it another nursery.
    """
    early = tuple(sorted((name, one) for name, one in variables.items() if name.startswith(EARLY)))
    return _lasting(tuple(packages), is_boxed, early)


@functools.lru_cache(maxsize=MOST_LASTING)
def _lasting(packages: tuple[str, ...], is_boxed: bool, _: tuple[tuple[str, str], ...]) -> Nursery:
    return Nursery(packages, {}, is_boxed=is_boxed)


def _written(text: str) -> int:
    """A file without a name that has this text."""
    file = os.memfd_create("variables")
    with os.fdopen(os.dup(file), "wb") as written:
        written.write(text.encode())
    return file


def _connect(connection: socket.socket, address: bytes) -> bool:
    """Connect to a process of this user; False if there is none."""
    try:
        connection.connect(address)
    except ConnectionRefusedError:
        return False
    if not _is_own(connection):
        raise DeviceError("another user of this machine has taken the name of a socket of kfuzz's")
    return True


def _is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is of this user: anyone may connect to a socket that is no file."""
    _, user, _ = USER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, USER.size))
    return bool(user == os.geteuid())


def _close(connection: socket.socket, process: CommandProcess | None) -> None:
    """Leave the process; end it if this caller has started it: all callers of a family end at once."""
    connection.close()
    if process is not None:
        process.kill()
        process.reap()


@dataclass
class ForkRecord:
    """A fork, from the side of the nursery: its number, the pipe for its status, and whether it has ended."""

    pid: int
    status: int
    has_ended: bool = False
    asked_by: int = 0
    """The file of the sandboxed process that has asked for it; 0 if none has."""

    def look(self) -> None:
        """Write its status if it has ended, and leave it a zombie, which keeps its number."""
        how = None if self.has_ended else os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if how is not None:
            self.has_ended = True
            code = how.si_status if how.si_code == os.CLD_EXITED else -how.si_status
            with contextlib.suppress(BrokenPipeError):
                os.write(self.status, NUMBER.pack(code))

    def forget(self) -> None:
        """Its caller has read the status, or has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.status)


@dataclass(frozen=True)
class BoxedCaller:
    """A fork in a sandbox, from the side of the nursery: its sandbox, and its variables if they are its own."""

    box: Box
    variables: Mapping[str, str] | None


class _Forking:
    """The process that forks, its callers and its forks, each by the number of the file that says what it does."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._woken, self._wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._callers: dict[int, socket.socket] = {}
        self._boxed: dict[int, BoxedCaller] = {}
        """Those callers that are in a sandbox."""
        self._children: dict[int, ForkRecord] = {}
        self._poll = select.poll()

    def run(self) -> None:
        """Serve callers until the last of them has ended; the first of them waits already."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes)
        self._poll.register(self._listener, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        self._accept()
        while self._callers:
            for file, _ in self._poll.poll():
                if file == self._woken:
                    self._look()
                elif file == self._listener.fileno():
                    self._accept()
                elif file in self._children:
                    self._poll.unregister(file)
                    self._children.pop(file).forget()
                elif file in self._callers:  # else it has ended with another of these
                    self._answer(self._callers[file])

    def _look(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, MOST_BYTES)
        for child in self._children.values():
            child.look()

    def _accept(self) -> None:
        caller, _ = self._listener.accept()
        if _is_own(caller):
            self._callers[caller.fileno()] = caller
            self._poll.register(caller, select.POLLIN)
        else:
            caller.close()

    def _answer(self, caller: socket.socket) -> None:
        """Fork for a caller, or forget it if it has ended."""
        asked = _receive(caller)
        if asked is None:
            self._forget_caller(caller)
            return
        module, files = asked
        if caller.fileno() in self._boxed:
            self._help(caller, module, files)
            return
        requests, replies, status, folder, about, errors = files
        variables, box = _read_about(about)
        ours, theirs = socket.socketpair() if box else (None, None)
        if (pid := _fork()) == 0:
            self._leave_to_parent(status)
            os.fchdir(folder)
            helper = None if theirs is None else theirs.detach()
            _be_worker(module, (requests, replies, errors), variables, box, helper)
        with contextlib.suppress(OSError):  # the caller has ended
            caller.send(NUMBER.pack(pid or 0))
        for one in (requests, replies, folder, about, errors):
            os.close(one)
        if box and ours and theirs:
            theirs.close()
            self._boxed[ours.fileno()] = BoxedCaller(box, variables)
            self._callers[ours.fileno()] = ours
            self._poll.register(ours, select.POLLIN)
        self._note_child(pid, status)

    def _note_child(self, pid: int | None, status: int, asked_by: int = 0) -> None:
        if pid is None:
            os.close(status)
        else:
            self._children[status] = ForkRecord(pid, status, asked_by=asked_by)
            self._poll.register(status, 0)  # that its other end is closed is always reported

    def _forget_caller(self, caller: socket.socket) -> None:
        """End what a caller in a sandbox has asked for: it has ended itself."""
        number = caller.fileno()
        self._poll.unregister(caller)
        del self._callers[number]
        if self._boxed.pop(number, None):
            for status in [status for status, one in self._children.items() if one.asked_by == number]:
                self._poll.unregister(status)
                self._children.pop(status).forget()
        caller.close()

    def _help(self, caller: socket.socket, words: str, files: list[int]) -> None:
        """Do what a process in a sandbox asks for, if that is one of two things, in a process of its own.

        It may have written anything: it chooses neither a folder, nor variables, nor a file for the status. The
        variables are those that it was started with: limits of time are among them, and hold for a compiler, too.
        """
        number = caller.fileno()
        boxed = self._boxed[number]
        verb, _, module = words.partition(" ")
        many = sum(one.asked_by == number for one in self._children.values()) >= MOST_HELPED
        pid, ours, status = None, -1, -1
        is_start = verb == helping.START and module in helping.STARTED and len(files) == len(("in", "out", "errors"))
        is_help = verb == helping.HELP and module in helping.HELPS and len(files) == len(("asked", "answer"))
        if (is_start or is_help) and not many:
            ours, status = os.pipe()
            helper, own = socket.socketpair() if is_start else (None, None)
            if (pid := _fork()) == 0:
                self._leave_to_parent(status)
                os.close(ours)
                if is_help:
                    _be_helper(module, boxed, files[0], files[1])
                passed = helper.detach() if helper else None
                _be_worker(module, (files[0], files[1], files[2]), boxed.variables, boxed.box, passed)
            if helper and own:
                helper.close()
                self._boxed[own.fileno()] = boxed
                self._callers[own.fileno()] = own
                self._poll.register(own, select.POLLIN)
            self._note_child(pid, status, number)
        with contextlib.suppress(OSError):
            caller.setblocking(False)
            socket.send_fds(caller, [NUMBER.pack(pid or 0)] if pid else [NUMBER.pack(0)], [ours] if pid else [])
        for one in (*files, *((ours,) if ours >= 0 else ())):
            os.close(one)

    def _leave_to_parent(self, status: int) -> None:
        """In a fork: close what belongs to the process that forks."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (self._listener, *self._callers.values()):
            one.close()
        for other in (self._woken, self._wakes, status, *self._children):
            os.close(other)


def serve(packages: Sequence[str]) -> None:
    """Import the packages, then fork whenever a caller asks for it, until the last of them has ended."""
    for package in packages:
        with contextlib.suppress(Exception):  # the worker imports it again, and says what is wrong
            importlib.import_module(package)
    gc.freeze()  # else each fork copies what its first look for garbage marks
    _Forking(socket.socket(fileno=os.dup(0))).run()


def _receive(caller: socket.socket) -> tuple[str, list[int]] | None:
    """What a caller wants, and the files for it; None if the caller has ended."""
    try:
        message, files, _, _ = socket.recv_fds(caller, MOST_BYTES, FILES)
    except OSError:
        return None
    return (message.decode(errors="replace"), files) if message else None


def _read_about(about: int) -> tuple[dict[str, str] | None, Box | None]:
    """The variables and the sandbox of a worker, from a file without a name."""
    said = json.loads(os.pread(about, os.fstat(about).st_size, 0))
    return said["variables"], None if said["box"] is None else box_from(said["box"])


def _fork() -> int | None:
    """Fork, or return None if another thread may hold a lock."""
    return os.fork() if len(os.listdir(THREADS)) == 1 else None


def _be_worker(
    module: str, files: tuple[int, int, int], variables: Mapping[str, str] | None, box: Box | None, helper: int | None
) -> None:
    """Be the worker process; do not return. `files`: for requests, replies and errors."""
    status = 1
    try:
        os.setsid()
        for number, one in enumerate(files):
            os.dup2(one, number)
        _take_variables(variables)
        for one in files:
            os.close(one)
        worker.main(module, box, helper)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _take_variables(variables: Mapping[str, str] | None) -> None:
    """Have these variables instead of those of the nursery, if there are any."""
    if variables is not None:
        os.environ.clear()
        os.environ.update(variables)


def _be_helper(module: str, boxed: BoxedCaller, asked: int, answer: int) -> None:
    """Do what a sandboxed process has asked for, in a sandbox that writes the cache; do not return."""
    try:
        os.setsid()
        _take_variables(boxed.variables)
        helps = importlib.import_module(module).help_with
        enter_for_compiler(boxed.box)
        with os.fdopen(asked, "rb") as file:
            file.seek(0)
            try:
                found = helping.pack_answer(True, helps(file.read))
            except Exception as error:  # whatever it is, it is that of the process that has asked
                found = helping.pack_answer(False, error)
        with os.fdopen(answer, "wb") as pipe:
            pipe.write(found)
    finally:
        os._exit(0)


def main(*packages: str) -> None:
    """Be the process that has imported these packages."""
    serve(packages)
    os._exit(0)

"""Starts worker processes fast: a process imports some packages once, and each worker is a fork of it.

No file of a user has run in the process that forks. It forks only while it has a single thread, since a lock that
another thread holds would stay taken in the fork for ever.

The caller's side is `Nursery`, the process's side is `main`, which kfuzz.unnamed calls. Knows processes and
pipes; it knows neither jobs nor libraries.
"""

import contextlib
import importlib
import os
import select
import signal
import socket
import struct
import sys
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kfuzz.devices import worker
from kfuzz.devices.worker import CommandProcess, Started, environment, start_command
from kfuzz.one_thread import use_one_thread
from kfuzz.unnamed import START

NUMBER = struct.Struct("<q")
MOST_BYTES = 4096
THREADS = Path("/proc/self/task")


class ForkedProcess:
    """A fork of a nursery, from the side of its caller. The nursery waits for its end and writes the status to a pipe.

    The number of the process stays its own until that pipe is closed, so that no other process is killed instead.
    """

    def __init__(self, pid: int, requests: int, replies: int, status: int) -> None:
        self.pid = pid
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


class Nursery:
    """A process that has imported some packages, for as long as its caller lives; each worker is a fork of it.

    If a worker kills it, another one takes its place: a worker that is a child of the caller could kill that.
    """

    def __init__(self, packages: Sequence[str], variables: Mapping[str, str]) -> None:
        self._packages, self._variables = packages, variables
        self._begin()

    def _begin(self) -> None:
        self._socket, theirs = socket.socketpair()
        with use_one_thread():
            self._process = CommandProcess(
                [sys.executable, "-c", START, "kfuzz.devices.nursery", *self._packages],
                stdin=theirs.fileno(),
                env={**environment(), **self._variables},
                start_new_session=True,
            )
        theirs.close()
        self.close: Callable[[], object] = weakref.finalize(self, _close, self._socket, self._process)

    def start(self, module: str) -> Started:
        """Start a process that serves the backend of a module: a fork, or a new process where a fork is not safe."""
        started, is_asked = self._fork(module)
        if not is_asked:
            self.close()
            self._begin()
            started, _ = self._fork(module)
        return started or start_command(module)

    def _fork(self, module: str) -> tuple[ForkedProcess | None, bool]:
        """A fork, if one is safe, and whether the nursery has answered."""
        requests, replies, status = os.pipe(), os.pipe(), os.pipe()
        theirs = (requests[0], replies[1], status[1])
        try:
            socket.send_fds(self._socket, [module.encode()], theirs)
            answer = self._socket.recv(NUMBER.size)
        except OSError:
            answer = b""
        finally:
            for one in theirs:
                os.close(one)
        pid = NUMBER.unpack(answer)[0] if answer else 0
        if pid:
            return ForkedProcess(pid, requests[1], replies[0], status[0]), True
        for one in (requests[1], replies[0], status[0]):
            os.close(one)
        return None, bool(answer)


def _close(connection: socket.socket, process: CommandProcess) -> None:
    connection.close()
    process.kill()
    process.reap()


@dataclass
class ForkRecord:
    """A fork, from the side of the nursery: its number, the pipe for its status, and whether it has ended."""

    pid: int
    status: int
    has_ended: bool = False

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


def serve(packages: Sequence[str]) -> None:
    """Import the packages, then fork whenever the caller asks for it, until it has ended."""
    for package in packages:
        with contextlib.suppress(Exception):  # the worker imports it again, and says what is wrong
            importlib.import_module(package)
    connection = socket.socket(fileno=os.dup(0))
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    children: dict[int, ForkRecord] = {}
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        for file, _ in poll.poll():
            if file == woken:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, MOST_BYTES)
                for child in children.values():
                    child.look()
            elif file in children:
                poll.unregister(file)
                children.pop(file).forget()
            else:
                message, files, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
                if not message:
                    return
                requests, replies, status = files
                if (pid := _fork()) == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    connection.close()
                    for other in (woken, wakes, status, *children):
                        os.close(other)
                    _be_worker(message.decode(), requests, replies)
                connection.send(NUMBER.pack(pid or 0))
                os.close(requests)
                os.close(replies)
                if pid is None:
                    os.close(status)
                else:
                    children[status] = ForkRecord(pid, status)
                    poll.register(status, 0)  # that its other end is closed is always reported


def _fork() -> int | None:
    """Fork, or return None if another thread may hold a lock."""
    return os.fork() if len(os.listdir(THREADS)) == 1 else None


def _be_worker(module: str, requests: int, replies: int) -> None:
    """Be the worker process; do not return."""
    status = 1
    try:
        os.setsid()
        os.dup2(requests, 0)
        os.dup2(replies, 1)
        for one in (requests, replies):
            os.close(one)
        worker.main(module)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def main(*packages: str) -> None:
    """Be the process that has imported these packages."""
    serve(packages)
    os._exit(0)

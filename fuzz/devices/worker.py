"""Worker processes: where kernels run, so that nothing a kernel does can reach the caller.

Knows processes, pipes and time; what a job is and what runs it (a Backend) it takes as given.

The caller's side is `Worker`: one process at a time, replaced when it ends, is killed or declares itself spent.
The process's side is `python -m kfuzz.devices.worker MODULE`, where MODULE has a function `backend()`.
"""

import atexit
import contextlib
import fcntl
import importlib
import io
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any, Literal, Protocol

from kfuzz.devices import (
    ClaimError,
    DeviceError,
    Entry,
    Finding,
    Job,
    Outcome,
    Probe,
    UnexpectedError,
    UnsupportedError,
    processes,
    unexpected,
)
from kfuzz.devices.kinds import Kind

LENGTH = struct.Struct("<Q")
PIPE_BYTES = 1 << 20
"""A job and its outcome fit whole, mostly: neither side has to wait while the other one reads."""
START_TIMEOUT = 120.0
COMPILE_TIMEOUT = 300.0
"""Seconds for what comes before a job's own time: nothing of the kernel has run yet."""

SIGNALS: dict[signal.Signals, tuple[Kind, str]] = {
    signal.SIGSEGV: ("illegal-address", "an access that the system refused"),
    signal.SIGBUS: ("illegal-address", "an access that the system refused"),
    signal.SIGFPE: ("trap", "an arithmetic fault"),
    signal.SIGILL: ("trap", "an illegal instruction"),
    signal.SIGTRAP: ("trap", "a trap"),
    signal.SIGABRT: ("trap", "an abort"),
}
"""What a process that ended by a signal tells of the kernel."""


class Backend(Protocol):
    """What runs jobs inside a worker process."""

    is_spent: bool
    """The process cannot be trusted with another job."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Run one job. `begin` is called with words for it each time that a part of the job's own time starts."""

    def close(self) -> None:
        """Give back what the process holds."""


@dataclass(frozen=True)
class _Program:
    """The part of a job that stays the same from trial to trial; it is sent once and then known by number."""

    kernel: str
    path: str
    source: str
    flags: tuple[str, ...]
    entries: tuple[Entry, ...]


_Reply = (
    tuple[Literal["done"], Outcome, bool]
    | tuple[Literal["claim", "unsupported", "device", "begun"], str]
    | tuple[Literal["unexpected"], UnexpectedError]
)


class Worker:
    """One process that runs jobs; a job that ends the process becomes a finding, and the next gets a new process.

    `grace`: how many seconds past its time-out a job may go on before the process is killed. A backend that keeps
    time itself, and can say more about what hangs, is given some.
    """

    def __init__(self, module: str, grace: float = 0.0, slack: float = 1.0) -> None:
        self._module, self._grace, self._slack = module, grace, slack
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[_Program, int] = {}
        self._end: Callable[[], object] = _nothing

    @property
    def pid(self) -> int | None:
        """The process that would run the next job; None when one has yet to be started."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job to its end, its time-out, or the end of the process; raise only ClaimError or DeviceError."""
        try:
            process = self._started()
            self._send(process, job, probe)
            return self._await(process, probe)
        except BaseException as error:
            # Whatever interrupted this (Ctrl-C, say), the process would answer a question nobody asks any more.
            if not isinstance(error, ClaimError | DeviceError):
                self.close()
            raise

    def close(self) -> None:
        """End the process, at once, with all that it has started."""
        self._end()
        self._end = _nothing
        self._process = None
        self._known.clear()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        process = subprocess.Popen(
            [sys.executable, "-m", "kfuzz.devices.worker", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # what we can import, it can
            start_new_session=True,  # Ctrl-C reaches the caller alone, and a compiler dies with its worker
        )
        self._process = process
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # the system allows a user only so many large ones
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._end = weakref.finalize(self, _end, process)
        if (reply := self._receive(process, time.monotonic() + START_TIMEOUT)) != ("begun", ""):
            self.close()
            if isinstance(reply, tuple) and reply[0] == "unexpected":
                raise reply[1]
            raise DeviceError(
                reply[1] if isinstance(reply, tuple) and reply[0] == "device" else _no_start(self._module)
            )
        return process

    def _send(self, process: subprocess.Popen[bytes], job: Job, probe: Probe) -> None:
        program = _Program(job.kernel, str(job.path), job.source, job.flags, job.entries)
        number = self._known.get(program)
        news = None
        if number is None:
            number = self._known[program] = len(self._known)
            news = program
        rest = replace(job, kernel="", source="", flags=(), entries=())
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended: receiving says how
            _write(process.stdin, (number, news, rest, probe))

    def _await(self, process: subprocess.Popen[bytes], probe: Probe) -> Outcome:
        deadline, part = time.monotonic() + COMPILE_TIMEOUT, "compiling"
        while True:
            reply = self._receive(process, deadline)
            if reply is None:
                self.close()
                return _hang(probe, part)
            if isinstance(reply, int):
                self.close()
                return Outcome(findings=(_ended(reply, part),))
            if reply[0] == "begun":
                deadline = time.monotonic() + probe.timeout * self._slack + self._grace
                part = str(reply[1])
            elif reply[0] == "unsupported":
                raise UnsupportedError(reply[1])
            elif reply[0] == "claim":
                raise ClaimError(reply[1])
            elif reply[0] == "device":
                self.close()
                raise DeviceError(reply[1])
            elif reply[0] == "unexpected":
                self.close()
                raise reply[1]
            else:
                if reply[2]:
                    self.close()
                return reply[1]

    def _receive(self, process: subprocess.Popen[bytes], deadline: float) -> _Reply | int | None:
        """The next message; the exit status when the process has ended, None when time is up."""
        assert process.stdout is not None
        try:
            reply: _Reply = _message(partial(_read, process.stdout.fileno(), deadline))
        except TimeoutError:
            return None
        except EOFError:
            return process.wait()
        return reply


def _read(pipe: int, deadline: float, count: int) -> bytearray:
    """So many bytes of a pipe; TimeoutError where they are not there by the deadline, EOFError where none will be."""
    found, poll = bytearray(count), select.poll()
    poll.register(pipe, select.POLLIN)
    rest = memoryview(found)
    while rest:
        if not poll.poll(max(0.0, (deadline - time.monotonic()) * 1000)):
            raise TimeoutError
        if not (came := os.readv(pipe, [rest[: 1 << 20]])):
            raise EOFError
        rest = rest[came:]
    return found


def _message(read: Callable[[int], bytes | bytearray]) -> Any:  # noqa: ANN401  whatever was written
    """What the other side has written. Its arrays lie where they were read, and are not copied once more."""

    def number() -> int:
        return int(LENGTH.unpack(read(LENGTH.size))[0])

    head = read(number())
    arrays = [read(number()) for _ in range(number())]
    return pickle.loads(head, buffers=arrays)  # noqa: S301  written by our own process


def _write(pipe: IO[bytes], message: object) -> None:
    """A message without its arrays, then how many these are, and each as it lies in memory; lengths go before."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    pipe.write(LENGTH.pack(len(head)) + head + LENGTH.pack(len(arrays)))
    for array in arrays:
        raw = array.raw()
        pipe.write(LENGTH.pack(raw.nbytes))
        pipe.write(raw)
    pipe.flush()


def _nothing() -> None:
    """End no process."""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started, and wait for it: no orphan, no zombie, no open pipe."""
    started = processes.descendants(process.pid) if process.poll() is None else []
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    processes.end(started)  # those that have left its group; to stop it first would leave it so, if this one is killed
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _no_start(module: str) -> str:
    by_hand = f"{sys.executable} -m kfuzz.devices.worker {module}"
    return f"the worker process ended before it was ready; run it by hand to see why: {by_hand}"


def _hang(probe: Probe, part: str) -> Outcome:
    if part == "compiling":
        raise ClaimError(f"the kernel did not compile within {COMPILE_TIMEOUT:g} s")
    return Outcome(findings=(Finding("hang", f"not ended after {probe.timeout:g} s, {part}; the process was killed"),))


def _ended(status: int, part: str) -> Finding:
    """What the end of a process says of the kernel that it was running."""
    if status >= 0:
        return Finding("trap", f"the kernel ended its process with exit status {status}, {part}")
    number = signal.Signals(-status)
    if number == signal.SIGKILL:
        message = f"the system killed the process, most likely for want of memory, {part}"
        return Finding("trap", message)
    kind, words = SIGNALS.get(number, ("trap", f"signal {number.name}"))
    return Finding(kind, f"the kernel ended its process by {words} ({number.name}), {part}")


def serve(backend: Backend, requests: io.BufferedReader, replies: IO[bytes]) -> None:
    """Run jobs until the caller closes the pipe."""
    programs: dict[int, _Program] = {}

    def begin(part: str) -> None:
        _write(replies, ("begun", part))

    while requests.peek(1):
        _write(replies, _reply(backend, programs, requests, begin))


def _reply(
    backend: Backend, programs: dict[int, _Program], requests: io.BufferedReader, begin: Callable[[str], None]
) -> _Reply:
    """What becomes of the next job; nothing of it is held any longer than that."""
    number, news, rest, probe = _message(requests.read)
    if news is not None:
        programs[number] = news
    program = programs[number]
    job = replace(rest, kernel=program.kernel, source=program.source, flags=program.flags, entries=program.entries)
    try:
        return "done", backend.run(job, probe, begin), backend.is_spent
    except ClaimError as error:
        return "unsupported" if isinstance(error, UnsupportedError) else "claim", str(error)
    except DeviceError as error:
        return "device", str(error)
    except Exception as error:  # our own fault must not pass for the kernel's
        return "unexpected", unexpected(error)


def _end_with_caller(pipe: int) -> None:
    """End this process, and what it has started, once nobody is left at the other side of the pipe.

    The main thread cannot see to this: it may be in a kernel that never ends.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))  # signals of kernels are the main thread's
    poll = select.poll()
    poll.register(pipe, 0)  # a hang-up is always reported
    poll.poll()
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main(module: str) -> None:
    """Be the worker process for the backend of a module."""
    # What a kernel or a library prints must not end up between the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_end_with_caller, args=(requests.fileno(),), daemon=True).start()
    try:
        backend: Backend = importlib.import_module(module).backend()
    except Exception as error:  # whatever it was, the caller is told, not left waiting
        known = isinstance(error, DeviceError)
        _write(replies, ("device", str(error)) if known else ("unexpected", unexpected(error)))
        return
    atexit.register(backend.close)
    _write(replies, ("begun", ""))
    serve(backend, requests, replies)


if __name__ == "__main__":
    main(sys.argv[1])

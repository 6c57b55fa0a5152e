"""Worker processes: where kernels run, so that nothing a kernel does can reach the caller.

Knows processes, pipes and time; what a job is and what runs it (a Backend) it takes as given.

The caller's side is `Worker`: one process at a time, replaced when it ends, is killed or declares itself spent.
The process's side is `python -m kfuzz.devices.worker.worker MODULE`, where MODULE has a function `backend()`. Long,
since both sides of the pipe are here; what goes through it is in `pipes.py`.
Long, since starting, watching and ending a process share its state.
"""

import atexit
import contextlib
import fcntl
import importlib
import itertools
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import IO, Literal, Protocol, runtime_checkable

from kfuzz.common.time_limits import time_limits
from kfuzz.common.unnamed_process import START
from kfuzz.devices import (
    ClaimError,
    DeviceError,
    Entry,
    Finding,
    Job,
    MissingError,
    NeedsGpuError,
    OtherLibraryError,
    Outcome,
    OutOfTimeError,
    Probe,
    TogetherError,
    UnexpectedError,
    UnsupportedError,
    processes,
    wrap_unexpected,
)
from kfuzz.devices.host_compiler import compiling_for
from kfuzz.devices.memory.layout import nbytes
from kfuzz.devices.sandbox.box import Box, box_in_variables, enter, kept_variables, variables_for
from kfuzz.devices.worker import helping
from kfuzz.devices.worker.activity import Activity
from kfuzz.devices.worker.pipes import PIPE_BYTES, Incoming, pack_message, read_message, write
from kfuzz.devices.worker.plain import MOST_TEXT, ForeignBytesError, pack_plain, read_plain
from kfuzz.devices.worker.printed import MOST_PRINTED, PrintedText
from kfuzz.devices.worker.replaced import in_words, put_back
from kfuzz.kinds import KINDS, Kind

NOWHERE = Path()
"""The path in a message of a job: the kernel's path is sent once, with its text."""
MARK_BYTES = 16
INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a worker whose kernel raises KeyboardInterrupt, which would else print kfuzz's own lines."""
BETWEEN_LOOKS = 0.01
"""Seconds."""
START_TIMEOUT = 600.0
AFTER_COMPILER = 10.0
"""Seconds for which a process may go on after the limit of one compilation: it ends its compiler itself, and can say
more about it."""
IDLE = 10.0
"""Seconds of a job's own time in which neither its process nor what that has started uses a processor, or waits for
one: it hangs."""

MOST_TOGETHER = 32
"""Jobs that a process receives before it runs the first of them."""
ClaimWord = Literal["out-of-time", "needs-gpu", "other-library", "missing", "unsupported", "claim"]
REFUSED: dict[ClaimWord, type[ClaimError]] = {
    "out-of-time": OutOfTimeError,
    "needs-gpu": NeedsGpuError,
    "other-library": OtherLibraryError,
    "missing": MissingError,
    "unsupported": UnsupportedError,
    "claim": ClaimError,
}
COMPILING = "compiling"
"""What comes before a job's own time."""
BUILDING = "running code that it has built"
"""A part of a job's time in which another worker compiles and runs for it, within limits of its own."""
TOGETHER = "running beside others"
"""The part of a job's time in which one of several may be the reason for whatever happens."""

LATE = 5.0
"""Seconds after a deadline: a process that notices it so late was itself not running."""

SIGNALS: dict[signal.Signals, tuple[Kind, str]] = {
    signal.SIGSEGV: ("illegal-address", "an access that the system refused"),
    signal.SIGBUS: ("illegal-address", "an access that the system refused"),
    signal.SIGFPE: ("trap", "an arithmetic fault"),
    signal.SIGILL: ("trap", "an illegal instruction"),
    signal.SIGTRAP: ("trap", "a trap"),
    signal.SIGABRT: ("trap", "an abort"),
    signal.SIGSYS: ("misbehaved", "a call of the system that its sandbox forbids"),
}
"""The kind of finding, and its words, for each signal that ends a process."""


class Backend(Protocol):
    """What runs jobs inside a worker process."""

    is_spent: bool
    """The process cannot be trusted with another job."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Run one job. `begin` is called with words for it each time that a part of the job's own time starts."""

    def close(self) -> None:
        """Give back what the process holds."""


@runtime_checkable
class FarSighted(Protocol):
    """A backend that can use the jobs that come next."""

    def look_ahead(self, coming: Sequence[tuple[Job, Probe]], begin: Callable[[str], None]) -> None:
        """Begin with some of the jobs to come, the next one first; `run` will be called for each in this order.

        TogetherError where one of them has spoilt what the others need: the process ends, and each is run by itself.
        """


@dataclass(frozen=True)
class _Program:
    """The part of a job that stays the same from trial to trial; it is sent once and then known by number."""

    kernel: str
    path: Path
    source: str
    flags: tuple[str, ...]
    entries: tuple[Entry, ...]


_DoneReply = tuple[Literal["done"], Outcome, bool]
_RefusedReply = tuple[ClaimWord, str]
_WordReply = tuple[Literal["device", "begun"], str]
_UnexpectedReply = tuple[Literal["unexpected"], str, str]
"""A bug of kfuzz: in one line, and with its traceback."""
_Reply = _DoneReply | _RefusedReply | _WordReply | _UnexpectedReply
_REPLIES = (_DoneReply, _RefusedReply, _WordReply, _UnexpectedReply)
COPIES, SPARE = 64, 1 << 26
"""How often a reply may hold what a job returns, and bytes beside that: more is nothing that kfuzz has written."""


@dataclass
class _Request:
    """A job that was asked for: what comes of it, and how large its message is once that was sent."""

    job: Job
    probe: Probe
    is_alone: bool = False
    """It does not run together with others."""
    outcome: Outcome | ClaimError | DeviceError | None = None
    message: list[bytes | memoryview] = field(default_factory=list)
    size: int = 0


class Started(Protocol):
    """A process that serves a backend, from the side of its caller; `reap` waits for its end."""

    pid: int
    returncode: int | None
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    printed: PrintedText | None
    """What it prints, if that is kept."""

    def poll(self) -> int | None:
        """The status with which it has ended; None if it runs."""

    def kill(self) -> None:
        """End it."""

    def reap(self) -> int:
        """Wait for its end; return its status."""


class CommandProcess(subprocess.Popen[bytes]):
    """A process of a command."""

    printed: PrintedText | None = None

    def reap(self) -> int:
        """Wait for its end. Popen's `wait` takes a lock, which an interrupt within `poll` leaves taken."""
        if self.returncode is None:
            try:
                self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            except ChildProcessError:  # somebody else has waited for it
                self.returncode = -signal.SIGKILL
        return self.returncode


def start_command(module: str, box: Box | None = None) -> Started:
    """Start a process that serves the backend of a module, from nothing; in this sandbox, if there is one."""
    printed = PrintedText(None if box is None else MOST_PRINTED)
    started = CommandProcess(
        [sys.executable, "-c", START, "kfuzz.devices.worker.worker", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=printed.end,
        env={**variables_for(box), "PYTHONPATH": search_path()},
        start_new_session=True,  # Ctrl-C reaches the caller alone, and a compiler dies with its worker
    )
    started.printed = printed
    printed.begin()
    return started


def environment(is_boxed: bool = False) -> dict[str, str]:
    """The variables of a worker: what we can import, it can. One in a sandbox gets none that may hold secrets."""
    kept = kept_variables() if is_boxed else dict(os.environ)
    return {**kept, "PYTHONPATH": search_path()}


def search_path() -> str:
    """The folders from which this process imports."""
    return os.pathsep.join(filter(None, sys.path))


class Worker:
    """One process that runs jobs; a job that ends the process becomes a finding, and the next gets a new process.

    Jobs may be asked for ahead: the process goes on with the next while the caller looks at what came of the last. Once
    a process was lost, a spare one is kept ready.

    `grace`: how many seconds past its time-out a job may go on before the process is killed. A backend that keeps
    time itself, and can say more about what hangs, is given some. `start` starts a process. `imports_files`: it imports
    the file of a job, and a file that ends the process then cannot be run; no call of it was at fault. `call_seconds`:
    how long a call of a job may take, unless the user says so, whatever its time-out is. `watches_idle`: a job that
    leaves its processor idle hangs; one that waits for a GPU does so, too. `returns_outputs`: the arrays of a run are
    the outputs of the job.
    """

    def __init__(
        self,
        module: str,
        grace: float = 0.0,
        slack: float = 1.0,
        start: Callable[[str], Started] = start_command,
        imports_files: bool = False,
        call_seconds: Callable[[Job], float] | None = None,
        watches_idle: bool = False,
        returns_outputs: bool = True,
    ) -> None:
        self._call_seconds, self._watches_idle, self._returns_outputs = call_seconds, watches_idle, returns_outputs
        self._module, self._grace, self._slack = module, grace, slack
        self._start_process, self._imports_files = start, imports_files
        self._process: _Process | None = None
        self._spare: _Process | None = None
        self._is_lossy = False
        self._asked: deque[_Request] = deque()
        self._known: dict[_Program, int] = {}

    @property
    def pid(self) -> int | None:
        """The process that would run the next job; None when one has yet to be started."""
        return self._process.popen.pid if self._process and self._process.popen.poll() is None else None

    def begin(self) -> None:
        """Start a process, if there is none, and wait until it can run jobs."""
        self._start()

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job to its end, its time-out, or the end of the process; raise only ClaimError or DeviceError."""
        (outcome,) = self.run_all([(job, probe)])
        return outcome()

    def run_all(self, jobs: Sequence[tuple[Job, Probe]]) -> list[Callable[[], Outcome]]:
        """Run jobs one after another, without a wait for the caller between them. Each result is a function that
        returns the job's outcome, or raises ClaimError or DeviceError.
        """
        own = [_Request(job, probe) for job, probe in jobs]
        self._asked.extend(own)
        for one in list(self._asked):
            self._settle(one)
        for _ in own:
            self._asked.pop()
        return [partial(_result_of, one) for one in own]

    def ask(self, job: Job, probe: Probe) -> None:
        """Queue a job; `answer` returns its outcome. A process that has nothing to do gets it now, else all that are
        queued are sent together when the next answer is wanted.
        """
        self._asked.append(_Request(job, probe))
        if self._process is not None and not any(one.size and one.outcome is None for one in self._asked):
            self._send()  # if the process has ended, another gets all of them

    def answer(self) -> Outcome:
        """Return the outcome of the oldest queued job; raise only ClaimError or DeviceError."""
        self._settle(self._asked[0])
        return _result_of(self._asked.popleft())

    def first(self, job: Job, probe: Probe) -> Outcome:
        """Run a job in a new process, before all queued jobs."""
        self._end_process()
        self._asked.appendleft(_Request(job, probe))
        self._settle(self._asked[0])
        return _result_of(self._asked.popleft())

    def forget(self) -> None:
        """Drop all queued jobs."""
        if any(one.size and one.outcome is None for one in self._asked):
            self._end_process()
        self._asked.clear()

    def close(self) -> None:
        """End the process, at once, with all that it has started."""
        self._end_process()
        if self._spare is not None:
            self._spare.end()
        self._spare = None
        self._asked.clear()

    def _end_process(self) -> None:
        """End the process; the jobs that it has not answered go to the next one."""
        if self._process is not None:
            self._process.end()
        self._process = None
        self._known.clear()
        for one in self._asked:
            one.message, one.size = [], 0

    def _separate(self) -> None:
        """End the process; what it may have begun together goes to the next to be run one by one."""
        for one in [one for one in self._asked if one.outcome is None][:MOST_TOGETHER]:
            one.is_alone = True
        self._end_process()

    def _settle(self, one: _Request) -> None:
        """Run a job to its outcome; it is the first one without an outcome."""
        try:
            while one.outcome is None:
                with compiling_for(one.job.path):
                    process = self._start()
                self._send()
                one.outcome = self._await(process, one)
        except (ClaimError, DeviceError) as error:
            one.outcome = error
        except BaseException:
            # Whatever interrupted this (Ctrl-C, say), the process would answer old requests.
            self.close()
            raise

    def _start(self) -> "_Process":
        if self._process is not None and (self._process.has_answered or self._process.popen.poll() is None):
            return self._process
        self._end_process()
        process, self._spare = self._spare or _Process(self._start_process(self._module)), None
        if self._is_lossy:
            self._spare = _Process(self._start_process(self._module))
        self._process = process
        if (reply := process.receive(time.monotonic() + START_TIMEOUT)) != ("begun", ""):
            self._end_process()
            if isinstance(reply, tuple) and reply[0] == "unexpected":
                raise _unexpected(reply)
            if isinstance(reply, tuple) and reply[0] in REFUSED:
                raise REFUSED[reply[0]](reply[1])
            printed = process.popen.printed.words() if process.popen.printed else ""
            failed = f"{_describe_failed_start(self._module)}{printed}"
            raise DeviceError(reply[1] if isinstance(reply, tuple) and reply[0] == "device" else failed)
        return process

    def _send(self) -> None:
        """Send what was asked for, as far as it fits into the pipe: the writer must not wait for the worker."""
        process = self._process
        assert process is not None
        if not any(one.outcome is None and not one.size for one in reversed(self._asked)):
            return
        room = process.room - sum(one.size for one in self._asked if one.outcome is None)
        together: list[bytes | memoryview] = []
        for one in self._asked:
            if one.size or one.outcome is not None:
                continue
            one.message = one.message or self._pack_job(one)
            is_alone = room == process.room
            size = sum(len(part) for part in one.message)
            if size > room and not is_alone:
                break
            one.size = max(size, 1 << 12)
            room -= one.size
            together += one.message
            one.message = []
        with contextlib.suppress(BrokenPipeError):  # the process has ended: receiving says how
            process.write(together)  # at once, or it would begin with the first alone

    def _pack_job(self, one: _Request) -> list[bytes | memoryview]:
        job = one.job
        program = _Program(job.kernel, job.path, job.source, job.flags, job.entries)
        number = self._known.get(program)
        news = None
        if number is None:
            number = self._known[program] = len(self._known)
            news = program
        rest = replace(job, kernel="", path=NOWHERE, source="", flags=(), entries=())
        return pack_message((number, news, rest, one.probe, one.is_alone))

    def _lose(
        self, process: "_Process", one: _Request, how: "int | ForeignBytesError | None", part: "_LostPart"
    ) -> Outcome | None:
        """What comes of a job whose process has ended by itself, or is ended since it takes too long; None where others
        that ran beside it may be the reason.
        """
        self._is_lossy = True
        if part.name == TOGETHER:
            self._separate()
            return None
        self._end_process()
        most, printed = time_limits().compile, process.popen.printed.words() if process.popen.printed else ""
        if part.name == COMPILING and self._imports_files:
            raise ClaimError(_describe_failed_import(one.job.path, how, most) + printed)
        if how is None and part.name == COMPILING:
            raise ClaimError(
                f"{one.job.path}: not compiled within {most:g} s (limit of one compilation: --compile-time)"
            )
        if how is None:
            return _report_hang(one.job.path, part)
        found = _describe_end(how, part.name)
        return Outcome(findings=(replace(found, message=found.message + printed),), ended=True)

    def _await(self, process: "_Process", one: _Request) -> Outcome | None:
        """What comes of a job that was sent; None where it and others have to be sent again, to be run alone."""
        limits = time_limits()
        given, part = limits.compile + AFTER_COMPILER, COMPILING
        began = time.monotonic()
        deadline = began + given
        patience = Patience(process.popen.pid)
        most = SPARE + COPIES * sum(nbytes(buffer) for buffer in one.job.buffers if not buffer.alternates)
        while True:
            idle = min(IDLE, limits.call or IDLE) if self._watches_idle and part not in (COMPILING, BUILDING) else inf
            is_asleep = process.sleeps_before(min(deadline, limits.until), idle, patience.begin)
            reply = None if is_asleep else process.receive(min(deadline, limits.until), patience.begin, most)
            if reply is None and limits.left <= 0:
                self._end_process()
                known = given if self._call_seconds else None
                raise OutOfTimeError(_describe_cut(one.job.path, part, time.monotonic() - began, known))
            if reply is None and not is_asleep and (more := patience.more(deadline)):
                deadline += more
                continue
            if reply is None or isinstance(reply, int | ForeignBytesError):
                return self._lose(process, one, reply, _LostPart(part, idle if is_asleep else given, is_asleep))
            if reply[0] == "begun":
                part = str(reply[1])
                own = one.probe.timeout * self._slack + self._grace
                if self._call_seconds is not None:
                    own = limits.call or self._call_seconds(one.job)
                given = limits.compile + AFTER_COMPILER if part == BUILDING else own
                began = time.monotonic()
                deadline = began + given
            elif reply[0] == "device":
                self._end_process()
                raise DeviceError(reply[1])
            elif reply[0] == "unexpected":
                self._end_process()
                raise _unexpected(reply)
            elif reply[0] == "done":
                if self._returns_outputs and not fits(reply[1], one.job):
                    return self._lose(process, one, ForeignBytesError(), _LostPart(part, given, is_asleep))
                if reply[2]:
                    self._is_lossy = self._is_lossy or reply[1].ended
                    self._end_process()
                return reply[1]
            else:
                raise REFUSED[reply[0]](reply[1])


@dataclass(frozen=True)
class _LostPart:
    """The part of a job in which its process was lost, the seconds that it was given, and whether it slept."""

    name: str
    seconds: float
    is_asleep: bool


def _result_of(one: _Request) -> Outcome:
    """The outcome of a job, or raise its error."""
    if isinstance(one.outcome, Exception):
        raise one.outcome
    assert one.outcome is not None
    return one.outcome


class Patience:
    """How much longer a process is waited for: time that it was not given is not its own.

    Others may have the processor, or this process and that one were both stopped, as with the machine that they are on.
    """

    def __init__(self, pid: int) -> None:
        self._pid, self._began = pid, time.monotonic()
        self._waited: float | None = None

    def begin(self) -> None:
        """Note what the process was not given so far, once: to ask the system takes 0.1 ms."""
        if self._waited is None:
            self._waited = processes.waiting_time(self._pid)

    def more(self, deadline: float) -> float:
        """Seconds, behind a deadline that has passed; 0 where the process had all of its time."""
        self.begin()
        now, waited = time.monotonic(), processes.waiting_time(self._pid)
        unseen, wanting = now - deadline, waited - (self._waited or 0.0)
        own = max(0.0, deadline - self._began)
        self._waited = waited
        if unseen > LATE:
            return unseen + own
        return wanting if wanting > own / 100 else 0.0


class _Process:
    """A process that runs jobs, from the caller's side: it is ended with its caller at the latest."""

    def __init__(self, started: Started) -> None:
        self.popen = started
        for pipe in (self.popen.stdin, self.popen.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # the system allows a user only so many large ones
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self._incoming, self._mark = Incoming(self.popen.stdout.fileno()), bytearray()
        self.room: int = fcntl.fcntl(self.popen.stdin, fcntl.F_GETPIPE_SZ) // 2
        self.end: Callable[[], object] = weakref.finalize(self, end_process, self.popen)

    def write(self, message: list[bytes | memoryview]) -> None:
        """Send a message."""
        assert self.popen.stdin is not None
        write(self.popen.stdin, message)

    @property
    def has_answered(self) -> bool:
        """Whether part of the next message has been read: nothing else says so without a call of the system."""
        return self._incoming.has_read

    def sleeps_before(self, deadline: float, idle: float, before_waiting: Callable[[], object]) -> bool:
        """Wait until the next message is there or the deadline has passed. True as soon as neither the process nor what
        it has started has been at work for `idle` seconds.
        """
        if idle == inf or self._incoming.has_more():
            return False
        before_waiting()
        if self._incoming.wait(min(1.0, deadline - time.monotonic())) or time.monotonic() + idle >= deadline:
            return False  # a look at all processes may take seconds on a busy machine
        activity = Activity(self.popen.pid, self.popen.printed)
        while time.monotonic() + idle < deadline:
            if self._incoming.wait(idle):
                return False
            if not activity.is_at_work():
                return not self._incoming.wait(0.0)
        return False

    def receive(
        self, deadline: float, before_waiting: Callable[[], object] = bool, most: int = SPARE
    ) -> "_Reply | int | ForeignBytesError | None":
        """The next message of at most so many bytes; the status if the process has ended, None if time is up."""
        if not self._incoming.has_more():  # mostly the reply is there before it is asked for
            before_waiting()
        read = partial(self._incoming.read, deadline)
        try:
            mark = read(MARK_BYTES)
            self._mark = self._mark or mark
            if mark != self._mark:
                return ForeignBytesError()
            reply: _Reply = read_plain(read, _REPLIES, most)
        except TimeoutError:
            return None
        except ForeignBytesError as error:
            return error
        except EOFError:
            while self.popen.poll() is None:  # it may have closed its end and go on
                if time.monotonic() > deadline:
                    return None
                time.sleep(BETWEEN_LOOKS)
            return self.popen.reap()
        return reply


def end_process(process: Started) -> None:
    """Kill a process and all that it has started, and wait for it: no orphan, no zombie, no open pipe."""
    started = processes.descendants(process.pid) if process.poll() is None else []
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    processes.end(started)  # those that have left its group; to stop it first would leave it so, if this one is killed
    process.reap()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _describe_failed_start(module: str) -> str:
    by_hand = f"{sys.executable} -m kfuzz.devices.worker.worker {module}"
    return f"the worker process ended before it was ready; run it by hand to see why: {by_hand}"


def _report_hang(path: Path, part: _LostPart) -> Outcome:
    """The hang of a job that did not end in these seconds: its time-out, and what its device adds to that."""
    how = "it used no processor" if part.is_asleep else "limit of one call: --call-time"
    message = f"{path.name} did not return within {part.seconds:g} s, {part.name} ({how}); the process was killed"
    return Outcome(findings=(Finding("hang", message),), ended=True)


def _describe_cut(path: Path, part: str, seconds: float, most: float | None) -> str:
    """What was going on when the time of the whole command was over: a call that was cut off may only be slow. `most`:
    the limit of a call, where its device does not keep time itself.
    """
    if part in (COMPILING, BUILDING):
        took = f"still compiled or imported after {seconds:.0f} s, when the time was over"
        return f"{path}: not judged: {took}; give more --max-time"
    took = f"one call took longer than the {seconds:.0f} s that --max-time left"
    if most and seconds > most:  # but not of a processor
        return f"{path}: not judged: {took}, and had to share the processor; give more --max-time"
    now = f" (now {most:g} s)" if most else ""
    return f"{path}: not judged: {took}; give more --max-time, or a --call-time below that, after which it hangs{now}"


def _describe_failed_import(path: Path, status: int | ForeignBytesError | None, most: float) -> str:
    if status is None:
        return f"{path}: the file was not imported within {most:g} s (limit of one import: --compile-time)"
    if isinstance(status, ForeignBytesError):
        return f"{path}: the file cannot be imported: it writes into a pipe that it has not opened"
    how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
    return f"{path}: the file cannot be imported: it ends its process ({how})"


def _describe_end(status: int | ForeignBytesError, part: str) -> Finding:
    """What the end of a process says of the kernel that it was running."""
    if isinstance(status, ForeignBytesError):
        what = f"it wrote into a pipe that it had not opened, {part}; the process was killed"
        return Finding("misbehaved", what)
    if status >= 0:
        return Finding("trap", f"the kernel ended its process with exit status {status}, {part}")
    number = signal.Signals(-status)
    if number == signal.SIGKILL:
        message = f"the system killed the process, most likely for want of memory, {part}"
        return Finding("out-of-memory", message, severity="warning")  # other processes may have taken the memory
    kind, words = SIGNALS.get(number, ("trap", f"signal {number.name}"))
    return Finding(kind, f"the kernel ended its process by {words} ({number.name}), {part}")


class _Replies:
    """The pipe to the caller. Each message begins with a mark, so that what others write there is not taken for one."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe, self._mark, self.number = pipe, os.urandom(MARK_BYTES), pipe.fileno()

    def send(self, reply: _Reply) -> None:
        """Send a message; in the place of one that cannot be written, that this is a bug of kfuzz."""
        try:
            parts = pack_plain(reply)
        except Exception as error:  # of a value that no message has room for, whatever made it
            parts = pack_plain(_describe_error(error))
        write(self._pipe, [self._mark, *parts])


def serve(backend: Backend, requests: Incoming, replies: _Replies) -> None:
    """Run jobs until the caller closes the pipe."""
    programs: dict[int, _Program] = {}
    coming: deque[tuple[Job, Probe, bool]] = deque()

    def begin(part: str) -> None:
        replies.send(("begun", part))

    while True:
        try:
            while not coming or (len(coming) < MOST_TOGETHER and requests.has_more()):
                coming.append(_read_job(programs, requests))
        except EOFError:
            pass
        except Exception as error:
            if not (replaced := put_back()):
                raise
            replies.send(_describe_replaced(replaced, error))
            return
        if not coming:
            return
        if isinstance(backend, FarSighted):
            try:
                _look_ahead(backend, coming, begin)
            except TogetherError:
                os._exit(1)  # without another call to the GPU: the caller knows which part this was
            except Exception as error:  # a bug of kfuzz must not look like a bug of the kernel
                replies.send(_describe_error(error))
                return
        job, probe, _ = coming.popleft()
        replies.send(_run_job(backend, job, probe, begin))
        del job


def _look_ahead(backend: FarSighted, coming: Iterable[tuple[Job, Probe, bool]], begin: Callable[[str], None]) -> None:
    """Show the backend the jobs before the first one that must run by itself."""
    several = [(job, probe) for job, probe, _ in itertools.takewhile(lambda one: not one[2], coming)]
    backend.look_ahead(several, lambda _: begin(TOGETHER))


def _read_job(programs: dict[int, _Program], requests: Incoming) -> tuple[Job, Probe, bool]:
    """The next job that was asked for, and whether it is to be run by itself."""
    number, news, rest, probe, is_alone = read_message(partial(requests.read, inf))
    if news is not None:
        programs[number] = news
    program = programs[number]
    job = replace(
        rest,
        kernel=program.kernel,
        path=program.path,
        source=program.source,
        flags=program.flags,
        entries=program.entries,
    )
    return job, probe, is_alone


def _run_job(backend: Backend, job: Job, probe: Probe, begin: Callable[[str], None]) -> _Reply:
    """Run a job and return the reply."""
    try:
        return "done", backend.run(job, probe, begin), backend.is_spent
    except KeyboardInterrupt:  # the kernel's own: Ctrl-C does not reach this session
        os._exit(INTERRUPTED)
    except Exception as error:
        replaced = put_back()  # before anything else: what it says may need them
        reply = _describe_error(error)
        if not replaced or reply[0] != "unexpected":
            return reply
        return _describe_replaced(replaced, error)


def _describe_replaced(replaced: list[str], error: Exception) -> _DoneReply:
    """The reply for an error where a file has replaced what kfuzz needs in its process: it is no bug of kfuzz."""
    return "done", Outcome(findings=(Finding("misbehaved", in_words(replaced, error)),), ended=True), True


def _describe_error(error: Exception) -> _Reply:
    """The reply for an error: a bug of kfuzz must not look like a bug of the kernel."""
    if isinstance(error, ClaimError):
        return next(word for word, of in REFUSED.items() if isinstance(error, of)), str(error)
    if isinstance(error, DeviceError) and not isinstance(error, UnexpectedError):
        return "device", str(error)
    wrapped = error if isinstance(error, UnexpectedError) else wrap_unexpected(error)
    return "unexpected", str(wrapped), "".join(getattr(wrapped, "__notes__", ()))[-MOST_TEXT:]


def _unexpected(reply: "_UnexpectedReply") -> UnexpectedError:
    """The error that a worker has described."""
    error = UnexpectedError(reply[1])
    error.add_note(reply[2])
    return error


def fits(outcome: Outcome, job: Job) -> bool:
    """Whether an outcome can be that of a job: a process that runs somebody's code may write any."""
    wanted = {one.name: one for one in job.buffers if one.is_output}
    for run in outcome.runs:
        if run.outputs.keys() != wanted.keys():
            return False
        for name, got in run.outputs.items():
            shapes = (wanted[name].shape, wanted[name].answer)
            if got.dtype != wanted[name].element.dtype or not (run.rows or job.vast or got.shape in shapes):
                return False
    return all(one.kind in KINDS for one in outcome.findings)


def _end_with_caller(pipe: int) -> None:
    """End this process, and what it has started, once the other side of the pipe is closed.

    The main thread cannot see to this: it may be in a kernel that never ends.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))  # signals of kernels are the main thread's
    poll = select.poll()
    poll.register(pipe, 0)  # a hang-up is always reported
    poll.poll()
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main(module: str, box: Box | None = None, helper: int | None = None) -> None:
    """Be the worker process for the backend of a module; in this sandbox, with this connection to its helper."""
    box = box or box_in_variables()
    # What a kernel or a library prints must not end up between the replies.
    replies = _Replies(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    requests = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        served = importlib.import_module(module)
        if box is not None:
            getattr(served, "prepare", bool)()
            kept = (replies.number, requests, *(() if helper is None else (helper,)))
            enter(box, kept, getattr(served, "RESERVED", 0))
            helping.be_helped_by(helper)
        threading.Thread(target=_end_with_caller, args=(requests,), daemon=True).start()
        backend: Backend = served.backend()
    except Exception as error:  # report it whatever it was: the caller is waiting
        replies.send(_describe_error(error))
        return
    atexit.register(backend.close)
    replies.send(("begun", ""))
    serve(backend, Incoming(requests), replies)


if __name__ == "__main__":
    main(sys.argv[1])

"""Child processes that run jobs, each with a device or another tool of its own, and send each result once they have it.

Ctrl-C does not reach them: their parent handles it and ends them. Knows processes, pipes and signals; never what a job
is.
"""

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

from kfuzz.common.malloc import keep_freed_memory
from kfuzz.common.numpy_threads import lift_limit, use_one_thread
from kfuzz.devices import ClaimError, Device, DeviceError, wrap_unexpected

TERMINAL = (signal.SIGINT, signal.SIGHUP)
"""The signals that a terminal sends to every process that was started from it."""
ENDS = (*TERMINAL, signal.SIGTERM)
JOIN_SECONDS = 2.0
ENDED = (EOFError, BrokenPipeError, ConnectionResetError)
"""The process at the other end of the pipe has ended, or has closed it."""


class ClosableTool(Protocol):
    """What a process makes before its first job, and closes at its end, such as a device."""

    def close(self) -> None:
        """Give back what it holds."""


Tool = TypeVar("Tool", bound=ClosableTool)
Task = TypeVar("Task")
Answer = TypeVar("Answer")
MakeDevice = Callable[[], Device]
Work = Callable[[Device, Task], Iterable[Answer]]
"""What a process does with a job. Like `MakeDevice` it is sent to the process, so it must be picklable."""


@dataclass(frozen=True)
class OneByOne(Generic[Tool, Task, Answer]):
    """Work that begins each job after the last one has ended."""

    work: Callable[[Tool, Task], Iterable[Answer]]

    def __call__(self, tool: Tool, jobs: Iterator[Task | None]) -> Iterator[Answer]:
        for job in jobs:
            if job is None:
                return
            yield from self.work(tool, job)


class KilledError(DeviceError):
    """The system has killed a process."""


class Child(Generic[Task, Answer]):
    """One child process. It is busy from a job until its parent says that the job's last item has come.

    The settings for all jobs are sent with the first job. They are large, and sending them waits until the process has
    loaded its modules; several processes do so at the same time.
    """

    def __init__(
        self, make_tool: Callable[[], Tool], work: Callable[[Tool, Iterator[Task | None]], Iterable[Answer]]
    ) -> None:
        """`work` gets the jobs that the process was sent, in their order; None means that no further job has come."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._settings: tuple[object, object] | None = make_tool, work
        with use_one_thread() as variables:
            self.process: BaseProcess = context.Process(target=_serve, args=(theirs, variables))
            start_process(self.process)
        theirs.close()
        self.is_busy = self._begins = False

    def send(self, job: Task) -> None:
        """Send the process a job."""
        self.is_busy = True
        self.begin()
        self._send(job)

    def begin(self) -> None:
        """Let the process make its tool, if it has not begun."""
        if self._settings is not None:
            self._send(self._settings)
            self._settings, self._begins = None, True

    def _send(self, item: object) -> None:
        try:
            self.pipe.send(item)
        except (BrokenPipeError, ConnectionResetError):
            self.receive()  # raises the error that ended the process
            raise self._end_error() from None

    def receive(self) -> Answer:
        """The next item; raises the error that ended the process, or a DeviceError if it ended without one."""
        self._begins = False
        try:
            item: Answer | DeviceError | ClaimError = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._end_error() from None
        if isinstance(item, DeviceError | ClaimError):
            raise item
        return item

    def dismiss(self) -> None:
        """Tell the process to end, at once if it may be busy; do not wait."""
        self.pipe.close()  # which ends the process when it next reads from it
        if self.is_busy or self._begins:
            self.process.terminate()

    def close(self) -> None:
        """End the process and wait for it; kill it if it does not react."""
        self.dismiss()
        for end in (self.process.terminate, self.process.kill):
            self.process.join(JOIN_SECONDS)
            if not self.process.is_alive():
                return
            end()
        self.process.join()

    def _end_error(self) -> DeviceError:
        self.process.join(JOIN_SECONDS)
        code = self.process.exitcode
        if code == -signal.SIGKILL:
            return KilledError("the system killed a process of kfuzz, most likely for want of memory")
        return DeviceError(f"a worker process ended with exit code {code}")


def end_all(hands: Sequence[Child[Any, Any]]) -> None:
    """End these processes all at once: one after the other would take seconds each."""
    for hand in hands:
        hand.dismiss()
    for hand in hands:
        hand.close()


def start_process(process: BaseProcess) -> None:
    """Start a process that blocks the ending signals while it loads; it calls `ignore_terminal` when it runs.

    A signal that ends the caller waits meanwhile: otherwise the new process could get half a message.
    """
    resource_tracker.ensure_running()  # the first process would start it inside of the block and unblock Ctrl-C
    with _block_signals():
        process.start()


@contextlib.contextmanager
def _block_signals() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_terminal() -> None:
    """Unblock the ending signals: ignore the terminal's from now on, as do processes that start later; obey SIGTERM."""
    for one in TERMINAL:
        signal.signal(one, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def _serve(pipe: Connection, variables: list[str]) -> None:
    """Run in the child: receive jobs and send items until the parent closes the pipe or ends the process."""
    lift_limit(variables)  # numpy is loaded; a device's own process may use as many threads as it likes
    ignore_terminal()
    keep_freed_memory()
    with contextlib.suppress(*ENDED):
        signal.signal(signal.SIGTERM, _leave)
        _work_on(pipe, *pipe.recv())


def _jobs(pipe: Connection) -> Iterator[Any]:
    """Wait for a job; then the jobs that have come meanwhile, and None when there is none."""
    yield pipe.recv()
    while True:
        yield pipe.recv() if pipe.poll() else None


def _work_on(
    pipe: Connection, make_tool: Callable[[], Tool], work: Callable[[Tool, Iterator[Any]], Iterable[Any]]
) -> None:  # fmt: skip
    tool: Tool | None = None
    try:
        tool = make_tool()
        while True:
            for item in work(tool, _jobs(pipe)):
                pipe.send(item)
    except ENDED:
        raise
    except (DeviceError, ClaimError) as error:
        pipe.send(error)
    except Exception as error:  # the parent reports it
        pipe.send(wrap_unexpected(error))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a device must be able to end its own process
        if tool is not None:
            tool.close()


def _leave(*_: object) -> None:
    """Raise SystemExit on SIGTERM, and only once, since a slow process gets the signal again.

    An EOFError would tell a device that its own process has ended, and it would wait for that.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit

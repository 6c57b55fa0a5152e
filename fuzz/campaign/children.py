"""Processes of our own that run jobs on a device of their own, and what comes of each job as soon as it is there.

Ctrl-C does not reach them: it is their caller's affair, who ends them. Knows processes, pipes and signals; never what
a job is.
"""

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from kfuzz.devices import ClaimError, Device, DeviceError, unexpected
from kfuzz.memory import keep_freed_memory
from kfuzz.one_thread import lift_limit, use_one_thread

TERMINAL = (signal.SIGINT, signal.SIGHUP)
"""What a terminal sends to every process that was started from it."""
ENDS = (*TERMINAL, signal.SIGTERM)
JOIN_SECONDS = 2.0
ENDED = (EOFError, BrokenPipeError, ConnectionResetError)
"""Nobody is left at the other end, or wants more."""

Task = TypeVar("Task")
Answer = TypeVar("Answer")
MakeDevice = Callable[[], Device]
Work = Callable[[Device, Task], Iterable[Answer]]
"""What a process does with a job. Like `MakeDevice` it is sent to the process, so it has to be picklable."""


class Child(Generic[Task, Answer]):
    """One process at work, and whether it is: from a job on until its caller says that the last item has come.

    What it is told of all jobs goes with the first one: it is much, and whoever sends it waits until the process has
    been loaded, which several do at the same time.
    """

    def __init__(self, make_device: MakeDevice, work: Work[Task, Answer]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._untold: tuple[MakeDevice, Work[Task, Answer]] | None = make_device, work
        with use_one_thread() as unsaid:
            self.process: BaseProcess = context.Process(target=_serve, args=(theirs, unsaid))
            start_process(self.process)
        theirs.close()
        self.is_busy = False

    def send(self, job: Task) -> None:
        """Give it a job."""
        self.is_busy = True
        try:
            if self._untold is not None:
                self.pipe.send(self._untold)
                self._untold = None
            self.pipe.send(job)
        except (BrokenPipeError, ConnectionResetError):
            raise self._end_error() from None

    def receive(self) -> Answer:
        """The next item; raises the error that ended the process, or a DeviceError where it ended without one."""
        try:
            item: Answer | DeviceError | ClaimError = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._end_error() from None
        if isinstance(item, DeviceError | ClaimError):
            raise item
        return item

    def dismiss(self) -> None:
        """Tell the process to end, at once where it is busy; does not wait."""
        self.pipe.close()  # which ends the process when it next looks
        if self.is_busy:
            self.process.terminate()

    def close(self) -> None:
        """End the process, and wait for it; one that does not hear is killed."""
        self.dismiss()
        for end in (self.process.terminate, self.process.kill):
            self.process.join(JOIN_SECONDS)
            if not self.process.is_alive():
                return
            end()
        self.process.join()

    def _end_error(self) -> DeviceError:
        self.process.join(JOIN_SECONDS)
        return DeviceError(f"a process at work ended with exit code {self.process.exitcode}")


def end_all(hands: Sequence[Child[Any, Any]]) -> None:
    """End these processes, all at once: one after the other would take seconds each."""
    for hand in hands:
        hand.dismiss()
    for hand in hands:
        hand.close()


def start_process(process: BaseProcess) -> None:
    """Start a process that is deaf from birth, while it is being loaded too; it calls `stay_deaf` when it runs.

    What ends the caller meanwhile waits: half a message would be the new process's affair.
    """
    resource_tracker.ensure_running()  # which would come with the first process, and lets Ctrl-C through again
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
    """What was blocked until now is ignored from now on, and so it is by what this process starts; SIGTERM is heard."""
    for one in TERMINAL:
        signal.signal(one, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def _serve(pipe: Connection, unsaid: list[str]) -> None:
    """The other end of a child: jobs come in, items go out, until the pipe is closed or the caller ends it."""
    lift_limit(unsaid)  # numpy is loaded; a device's own process has as many threads as it likes
    ignore_terminal()
    keep_freed_memory()
    with contextlib.suppress(*ENDED):
        signal.signal(signal.SIGTERM, _leave)
        _work_on(pipe, *pipe.recv())


def _work_on(pipe: Connection, make_device: MakeDevice, work: Work[Task, Answer]) -> None:
    device: Device | None = None
    try:
        device = make_device()
        while True:
            for item in work(device, pipe.recv()):
                pipe.send(item)
    except ENDED:
        raise
    except (DeviceError, ClaimError) as error:
        pipe.send(error)
    except Exception as error:  # the caller tells it, in its own words
        pipe.send(unexpected(error))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the device ends its own process, undisturbed
        if device is not None:
            device.close()


def _leave(*_: object) -> None:
    """No EOFError, by which a device knows that its own process has ended, and waits for it. Once: whoever is slow to
    leave is told again.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit

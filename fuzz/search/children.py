"""Processes of our own that Ctrl-C does not reach: it is their caller's affair, who ends them.

Knows signals and how Python starts a process; never what runs in one.
"""

import contextlib
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess

TERMINAL = (signal.SIGINT, signal.SIGHUP)
"""What a terminal sends to every process that was started from it."""
ENDS = (*TERMINAL, signal.SIGTERM)


def start(process: BaseProcess) -> None:
    """Start a process that is deaf from birth, while it is being loaded too; it calls `stay_deaf` when it runs.

    What ends the caller meanwhile waits: half a message would be the new process's affair.
    """
    resource_tracker.ensure_running()  # which would come with the first process, and lets Ctrl-C through again
    with _blocked():
        process.start()


def stay_deaf() -> None:
    """What was blocked until now is ignored from now on, and so it is by what this process starts; SIGTERM is heard."""
    for one in TERMINAL:
        signal.signal(one, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

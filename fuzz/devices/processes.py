"""What processes have started: found by the system's own listing, and ended with whoever started them.

Knows process numbers; never what runs in them.
"""

import contextlib
import ctypes
import os
import signal
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Stay the parent of all that this process starts, also where what stands between has ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """The children of a process, and theirs, the nearest first; none where there is no /proc."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def end(pids: list[int]) -> None:
    """Kill these, each if it is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def end_children() -> bool:
    """End whatever this process has started and not waited for; whether there was anything."""
    found = False
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        found = True
        if pid == 0:  # there are some, and none has ended yet
            end(descendants(os.getpid()))
            os.waitpid(-1, 0)

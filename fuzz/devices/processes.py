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


def parents() -> dict[int, int]:
    """Each process and its parent; nothing where there is no /proc."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    return found


def descendants(pid: int) -> list[int]:
    """The children of a process, and theirs, the nearest first; none where there is no /proc."""
    every, found = parents(), [pid]
    for one in found:
        found += [child for child, parent in every.items() if parent == one]
    return found[1:]


def waiting_time(pid: int) -> float:
    """Seconds for which a process could have run and had no processor; 0 where the system does not count them."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0


def end(pids: list[int]) -> None:
    """Kill these, each if it is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def children() -> frozenset[int]:
    """What this process has started, or adopted, and not waited for."""
    me = os.getpid()
    while True:  # what the system says there is, its listing has to show
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # there are none, as in most cases, and no listing is needed
            return frozenset()
        if found := frozenset(child for child, parent in parents().items() if parent == me):
            return found


def end_children(known: frozenset[int]) -> bool:
    """End whatever this process has started beside what is known, and wait for it; whether there was anything."""
    found = False
    while fresh := children() - known:
        found = True
        for pid in fresh:
            end([pid, *descendants(pid)])
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return found

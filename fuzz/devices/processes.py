"""Finds the processes that a process has started, in the system's own listing, and ends them with it.

Knows process numbers; it does not know what runs in them.
"""

import contextlib
import ctypes
import os
import signal
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
OF_PROCESSOR = slice(14 - 3, 18 - 3)
"""The fields of /proc/PID/stat with the time of a process and its ended children (proc(5)), counted after its name."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def parents() -> dict[int, int]:
    """Each process and its parent; empty without /proc."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    return found


def descendants(pid: int) -> list[int]:
    """The children of a process, and their children, the nearest first; empty without /proc."""
    every, found = parents(), [pid]
    for one in found:
        found += [child for child, parent in every.items() if parent == one]
    return found[1:]


def waiting_time(pid: int) -> float:
    """Seconds for which a process was ready to run but had no processor; 0 if the system does not count them."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0


def processor_seconds(pid: int) -> float:
    """What a process and its descendants have used of a processor, with those that have ended; 0 without /proc."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{one}/stat").read_text(errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[OF_PROCESSOR]))
    return ticks / os.sysconf("SC_CLK_TCK")


def is_held_up(pid: int) -> bool:
    """Whether a thread of a process, or of its descendants, could go on if it had a processor, a disk or its memory."""
    for one in (pid, *descendants(pid)):
        for stat in Path(f"/proc/{one}/task").glob("*/stat"):
            with contextlib.suppress(OSError, IndexError):
                if stat.read_text(errors="replace").rpartition(")")[2].split()[0] in "RD":
                    return True
    return False


def end(pids: list[int]) -> None:
    """Kill those of these processes that still exist."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def children() -> frozenset[int]:
    """The processes that this one has started or adopted, and has not waited for."""
    me = os.getpid()
    while True:  # what the system says there is, its listing has to show
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # there are none, as in most cases, and no listing is needed
            return frozenset()
        if found := frozenset(child for child, parent in parents().items() if parent == me):
            return found


def reap_orphans() -> None:
    """Wait for all children that have ended: those that were adopted have no other parent."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_children(known: frozenset[int]) -> bool:
    """End all children of this process except the known ones, wait for them, and return whether there were any."""
    found = False
    while fresh := children() - known:
        found = True
        for pid in fresh:
            end([pid, *descendants(pid)])
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return found

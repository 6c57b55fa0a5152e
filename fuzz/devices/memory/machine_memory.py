"""How much memory this machine has, and the share of it that one of several processes may take.

Knows the system's own figures; it does not know what the processes do.
"""

import contextlib
import os
import resource
from pathlib import Path

LIMIT = "MOST_BYTES_OF_PROCESS"
"""The variable by which a process hears its limit."""
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
LEAST = 2 << 30
"""Bytes that every process may take: torch alone needs a quarter of that."""


def machine_bytes() -> int:
    """The memory of this machine, or of the container if that has less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in CGROUPS:
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path(file).read_text()))
    return min(found)


def share_of(processes: int) -> int:
    """The bytes that each of so many processes may take: together three quarters of all, the rest is their callers'."""
    return max(LEAST, machine_bytes() * 3 // 4 // processes)


def resident_bytes(pid: int) -> int:
    """The memory that a process has now; 0 if the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def limit_memory() -> int | None:
    """Limit the memory of this process to the limit that it was given; return that, or None if there is none.

    Only memory that it can write counts, and not the address space that libraries reserve.
    """
    said = os.environ.get(LIMIT)
    if said is None:
        return None
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(said) if hard == resource.RLIM_INFINITY else min(int(said), hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    return limit

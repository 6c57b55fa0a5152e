"""Memory that a process frees is kept for the next array, up to a bound.

Left alone, glibc gives the end of the heap back as soon as 128 KB of it are free, and asks for it again at the next
array: every page of it is then mapped and cleared anew, which took two thirds of the time of judging a row of 100,000.
Knows the allocator; never who allocates.
"""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT = 128 << 20
"""Free bytes at the end of the heap that stay; a large case takes ten times as much."""
FROM_HEAP = 32 << 20
"""An array larger than this is mapped by itself: the most that glibc takes."""


def keep_freed_memory() -> None:
    """Do so in this process; nothing where the C library knows no such thing."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, KEPT)
        mallopt(M_MMAP_THRESHOLD, FROM_HEAP)

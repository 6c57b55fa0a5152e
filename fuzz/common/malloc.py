"""Keeps memory that a process frees for its next array, up to a bound.

By default glibc returns the end of the heap as soon as 128 KB of it are free and asks for it again at the next array.
The kernel then maps and clears every page again: that took two thirds of the time of judging a row of 100,000.
Knows the allocator alone.
"""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT = 512 << 20
"""Free bytes at the end of the heap that stay: the verdict on a row of a million elements takes 300 MB."""
FROM_HEAP = 32 << 20
"""An array larger than this is mapped by itself: the most that glibc takes."""


def keep_freed_memory() -> None:
    """Do so in this process; do nothing if its C library has no `mallopt`."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, KEPT)
        mallopt(M_MMAP_THRESHOLD, FROM_HEAP)

"""Semaphores of multiprocessing in a sandbox: those of the system have names in a folder that others share.

A process in a sandbox starts no other, so one in its own memory locks all that could be locked. Knows Python's locks.
"""

import _multiprocessing  # type: ignore[import-not-found]  # a part of CPython
import ctypes

BYTES = 64
"""More than a semaphore of any of Linux's C libraries takes."""


class SemLock(_multiprocessing.SemLock):  # type: ignore[misc]  # as above
    """A semaphore without a name."""

    __module__ = _multiprocessing.__name__
    memory: object

    def __new__(cls, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> "SemLock":
        """As the system's own is made, whose name this one does without."""
        memory = ctypes.create_string_buffer(BYTES)
        address = ctypes.addressof(memory)
        if ctypes.CDLL(None).sem_init(ctypes.c_void_p(address), 0, ctypes.c_uint(value)):
            raise OSError("no semaphore can be made")
        made: SemLock = cls._rebuild(address, kind, maxvalue, None)
        made.memory = memory
        return made


def offer_locks() -> None:
    """Let multiprocessing.Lock() and its like work in this process."""
    _multiprocessing.SemLock = SemLock  # each lock looks it up there

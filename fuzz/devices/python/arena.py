"""Host memory with hard edges: an access before its first byte or after its last ends the process.

Knows the system's pages; it knows no library of arrays.
"""

import ctypes
import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import DeviceError
from kfuzz.devices.memory.layout import ALIGNED, Bytes

OPEN_SIDE = 1 << 20
"""Bytes on either side that are protected from every access."""
LEAST = 1 << 22
NOT_AT_ALL = 0


@dataclass(frozen=True)
class HostView:
    """An array in the host's memory."""

    host: NDArray[Any]

    @property
    def address(self) -> int:
        return int(self.host.ctypes.data)

    def write(self, content: NDArray[Any]) -> None:
        """Give it other elements."""
        self.host[...] = content

    def read(self) -> NDArray[Any]:
        """A copy of its elements."""
        return self.host.copy()


@dataclass(frozen=True)
class HostStretch:
    """Some of the host's memory."""

    held: Bytes

    def write(self, image: Bytes) -> None:
        """Fill it."""
        self.held[:] = image

    def read(self) -> Bytes:
        """A copy of it."""
        return self.held.copy()

    def view(self, array: NDArray[Any], start: int) -> HostView:
        """The array that begins at a byte of it."""
        return HostView(np.ndarray(array.shape, array.dtype, self.held, start, array.strides))


class HostArena:
    """One stretch of memory between two protected stretches. It only grows."""

    on_gpu = False
    is_spent = False

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._held = np.empty(0, np.uint8)
        self._maps: list[mmap.mmap] = []

    def room(self, nbytes: int, at_end: bool) -> HostStretch:
        """This many bytes, a multiple of 256, at one of the two edges."""
        if nbytes > len(self._held):
            self._grow(max(nbytes, 2 * len(self._held), LEAST))
        return HostStretch(self._held[len(self._held) - nbytes :] if at_end else self._held[:nbytes])

    def beside(self, content: Bytes) -> HostStretch:
        """The memory in which the content lies."""
        return HostStretch(content)

    def holds(self, address: int) -> bool:
        """Whether an address lies in it."""
        return bool(self._held.ctypes.data <= address < self._held.ctypes.data + len(self._held))

    def settle(self) -> None:
        """Do nothing: in the host, a call that has returned is finished."""

    def _grow(self, nbytes: int) -> None:
        size = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        assert mmap.PAGESIZE % ALIGNED == 0, "both edges are multiples of what arrays are placed by"
        whole = mmap.mmap(-1, OPEN_SIDE + size + OPEN_SIDE)
        self._maps.append(whole)  # the callable may still hold arrays over an earlier one
        every = np.frombuffer(whole, np.uint8)
        for start in (every.ctypes.data, every.ctypes.data + OPEN_SIDE + size):
            if self._libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(OPEN_SIDE), NOT_AT_ALL):
                raise DeviceError(f"the system does not protect memory: error {ctypes.get_errno()} of mprotect")
        self._held = every[OPEN_SIDE : OPEN_SIDE + size]

"""Input that comes late on a GPU: a kernel holds back the stream in which it is copied.

It waits for the host to let go, and no longer than a limit, since a callable may rightly wait for the stream itself.
Both times follow from how long a call takes, so that it does not matter how fast the host and its driver are. Knows the
driver; it knows no library of arrays.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kfuzz.devices.gpu import driver, graphs

CODE = Path(__file__).with_name("hold_back.ptx")
FUNCTION = "hold_back"
MAPPED = 2
"""A flag of cuMemHostAlloc: the GPU reads the memory where it is."""
LEAST_PAUSE, LEAST_LIMIT = 0.001, 0.016
"""Seconds. Work that does not wait for the stream runs in the first; the second covers a host that was interrupted."""
LIMIT = 4
"""Times as long as a call."""
NANOSECONDS = 1e9


@dataclass(frozen=True)
class LateCopy:
    """Bytes of GPU memory that are copied to where an input lies."""

    to: int
    source: int
    nbytes: int


class LateInput:
    """Copies that wait in a stream. `seconds`: how long a call takes, from its beginning to the end of all its work."""

    def __init__(self, copies: Sequence[LateCopy], seconds: float) -> None:
        self._copies = copies
        self._pause, self._most = LEAST_PAUSE + seconds, LEAST_LIMIT + LIMIT * seconds
        self._word = _word()

    def queue(self, stream: int) -> None:
        """Queue them; before, the stream is held back."""
        self._word.value = 0
        times = (int(one * NANOSECONDS) for one in (self._most, self._pause))
        given = graphs.pack_arguments((ctypes.addressof(self._word), *times), (8, 8, 8))
        queue = ctypes.c_void_p(stream)
        graphs.launch(_functions().function(FUNCTION, 0), (1, 1, 1), (1, 1, 1), 0, given, queue)
        for one in self._copies:
            to, source, nbytes = ctypes.c_uint64(one.to), ctypes.c_uint64(one.source), ctypes.c_size_t(one.nbytes)
            driver.call_driver("cuMemcpyDtoDAsync_v2", to, source, nbytes, queue)

    def let_go(self) -> None:
        """The call has returned: the copies begin after a pause, in which any work in other streams ends.

        Work in the default stream, in which most of it is, has ended even before.
        """
        driver.library().cuStreamSynchronize(ctypes.c_void_p(graphs.LEGACY_STREAM))  # an error shows again later
        self._word.value = 1


@cache
def _functions() -> graphs.LoadedFunctions:
    """The kernel; the driver compiles it."""
    return graphs.LoadedFunctions(CODE.read_bytes() + b"\0")


@cache
def _word() -> ctypes.c_uint32:
    """A word of the host's memory that the GPU sees, too."""
    address = ctypes.c_void_p()
    driver.call_driver("cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(4096), ctypes.c_uint(MAPPED))
    assert address.value
    return ctypes.c_uint32.from_address(address.value)

"""Launches that are recorded once and replayed together by the driver's own library, so that they can be timed.

PyCUDA has no graphs, clusters or cooperative launches, and a rival may use the GPU in the same process. This module
therefore uses ctypes and the GPU's primary context, which all libraries share. Knows memory, modules, streams and
graphs; never what is launched, or why.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import DeviceError
from kfuzz.devices.gpu.driver import attribute, call_driver, gpu, library
from kfuzz.devices.vendor import Replayable

L2_CACHE_SIZE, MEMORY_CLOCK, MEMORY_BUS = 38, 36, 37
CLOCK, MULTIPROCESSORS = 13, 16
MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTER = 8, 14
THREAD_LOCAL, NON_BLOCKING = 1, 1
END = 0
LEGACY_STREAM = 0
"""The default stream: it waits for all streams that do not say otherwise, and they wait for it."""
COOPERATIVE, CLUSTER_DIMENSION = 2, 4
"""Attributes of cuLaunchKernelEx."""
PARAMS, PARAMS_SIZE = 1, 2
"""Keys in cuLaunchKernel's `extra`: the next entry is all arguments together, or their size in bytes."""
MOST_PARAMETERS = 1024
TRANSFERS_A_CLOCK = 2
PAGE = 2 << 20
SPACES = cycle((1, 5, 2, 7, 3))
"""Pages left free after each stretch of memory in turn."""

GridSize = tuple[int, int, int]


class Session:
    """The first GPU's primary context, current in this thread, and one stream in it."""

    def __init__(self) -> None:
        self.gpu = gpu()
        device = c_int()
        call_driver("cuDeviceGet", byref(device), 0)
        context = c_void_p()
        call_driver("cuDevicePrimaryCtxRetain", byref(context), device)
        call_driver("cuCtxSetCurrent", context)
        self.cache = attribute(L2_CACHE_SIZE, device)
        clock, bus = attribute(MEMORY_CLOCK, device), attribute(MEMORY_BUS, device)
        self.peak = clock * 1e3 * TRANSFERS_A_CLOCK * bus / 8
        self.clocks = attribute(CLOCK, device) * 1e3 * attribute(MULTIPROCESSORS, device)
        self.stream = new_stream()
        self._events = (c_void_p(), c_void_p())
        for event in self._events:
            call_driver("cuEventCreate", byref(event), c_uint(0))

    def seconds(self, graph: Replayable) -> float:
        """How long one replay takes, from event to event on the GPU's own clock."""
        begin, end = self._events
        call_driver("cuEventRecord", begin, self.stream)
        graph.replay()
        call_driver("cuEventRecord", end, self.stream)
        call_driver("cuEventSynchronize", end)
        taken = c_float()
        call_driver("cuEventElapsedTime", byref(taken), begin, end)
        return taken.value / 1e3

    def forget_persisting(self) -> None:
        """Reset persisting lines of the second-level cache, so that nothing stays there on purpose."""
        call_driver("cuCtxResetPersistingL2Cache")

    def wait(self) -> None:
        """Wait until the context has finished all its work."""
        call_driver("cuCtxSynchronize")

    def graph(self, record: Callable[[], None]) -> "RecordedGraph":
        """A graph of the work that `record` puts on the stream; none of it runs now."""
        call_driver("cuStreamBeginCapture_v2", self.stream, c_int(THREAD_LOCAL))
        graph, ready = c_void_p(), c_void_p()
        try:
            record()
        except BaseException:
            with suppress(DeviceError):  # this error only says that something failed before
                call_driver("cuStreamEndCapture", self.stream, byref(graph))
            raise
        call_driver("cuStreamEndCapture", self.stream, byref(graph))
        call_driver("cuGraphInstantiateWithFlags", byref(ready), graph, c_uint64(0))
        call_driver("cuGraphDestroy", graph)
        return RecordedGraph(ready, self.stream)


class RecordedGraph:
    """A graph, ready to be launched on its stream."""

    def __init__(self, ready: c_void_p, stream: c_void_p) -> None:
        self._ready, self._stream = ready, stream

    def replay(self) -> None:
        """Launch it; does not wait."""
        call_driver("cuGraphLaunch", self._ready, self._stream)

    def __del__(self) -> None:
        """Free its memory."""
        with suppress(DeviceError):  # a kernel may have ended the context, and all that was in it
            call_driver("cuGraphExecDestroy", self._ready)


class DeviceBytes:
    """A stretch of GPU memory, which begins at a multiple of 256.

    The gaps between stretches of one size vary in pages: an input and its output that lay apart by a power of two
    would always meet in the same banks of memory.
    """

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.address = nbytes, 0
        address = c_uint64()
        call_driver("cuMemAlloc_v2", byref(address), c_size_t(max(nbytes, 1) + next(SPACES) * PAGE * (nbytes >= PAGE)))
        self.address = address.value

    def fill(self, block: NDArray[np.generic]) -> None:
        """Fill it with copies of a block of bytes: write the block once, then double it."""
        given = np.ascontiguousarray(block).view(np.uint8).reshape(-1)
        done = min(self.nbytes, given.size)
        self.write(given[:done])
        while done and done < self.nbytes:
            more = min(done, self.nbytes - done)
            call_driver("cuMemcpyDtoD_v2", c_uint64(self.address + done), c_uint64(self.address), c_size_t(more))
            done += more

    def write(self, given: NDArray[np.generic]) -> None:
        """Write its first bytes."""
        if given.nbytes:
            call_driver("cuMemcpyHtoD_v2", c_uint64(self.address), c_void_p(given.ctypes.data), c_size_t(given.nbytes))

    def read(self, start: int, nbytes: int) -> NDArray[np.uint8]:
        """Read `nbytes` of its bytes."""
        got = np.empty(nbytes, np.uint8)
        if nbytes:
            call_driver("cuMemcpyDtoH_v2", c_void_p(got.ctypes.data), c_uint64(self.address + start), c_size_t(nbytes))
        return got

    def __del__(self) -> None:
        """Free it."""
        with suppress(DeviceError):
            call_driver("cuMemFree_v2", c_uint64(self.address))


class LoadedFunctions:
    """The kernels of machine code, by symbol; the module lives as long as this does."""

    def __init__(self, image: bytes) -> None:
        self._module = c_void_p()
        call_driver("cuModuleLoadData", byref(self._module), image)
        self._functions: dict[str, c_void_p] = {}
        self._shared: dict[str, int] = {}

    def function(self, symbol: str, shared: int) -> c_void_p:
        """A kernel that may be launched with this much dynamic shared memory, in clusters of any size."""
        if symbol not in self._functions:
            function = c_void_p()
            call_driver("cuModuleGetFunction", byref(function), self._module, symbol.encode())
            if gpu().capability >= (9, 0):
                call_driver("cuFuncSetAttribute", function, c_int(NON_PORTABLE_CLUSTER), c_int(1))
            self._functions[symbol] = function
        if shared > self._shared.get(symbol, 0):  # its static arrays use part of the 48 KB that need no opt-in
            call_driver("cuFuncSetAttribute", self._functions[symbol], c_int(MAX_DYNAMIC_SHARED), c_int(shared))
            self._shared[symbol] = shared
        return self._functions[symbol]

    def most_blocks(self, symbol: str, threads: int, shared: int) -> int:
        """How many blocks of a kernel the GPU runs at once."""
        each = c_int()
        function = self.function(symbol, shared)
        query = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        call_driver(query, byref(each), function, c_int(threads), c_size_t(shared))
        return each.value * attribute(MULTIPROCESSORS, c_int(0))

    def __del__(self) -> None:
        """Unload it."""
        with suppress(DeviceError):
            call_driver("cuModuleUnload", self._module)


def new_stream() -> c_void_p:
    """A stream that does not wait for any other."""
    stream = c_void_p()
    call_driver("cuStreamCreate", byref(stream), c_uint(NON_BLOCKING))
    return stream


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute: its id, and a value of 64 bytes; a cluster's sides take three words of it."""

    _fields_ = (("id", c_uint), ("unused", c_uint), ("value", c_uint * 16))


class _Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", c_uint),
    )


def launch(
    function: c_void_p,
    grid: GridSize,
    block: GridSize,
    shared: int,
    arguments: bytes,
    stream: c_void_p,
    cluster: GridSize | tuple[()] = (),
    cooperative: bool = False,
) -> None:
    """Launch a kernel; the arguments are laid out as in a parameter block."""
    given = ctypes.create_string_buffer(arguments, max(len(arguments), 1))
    size = c_size_t(len(arguments))
    extra = (c_void_p * 5)(PARAMS, ctypes.addressof(given), PARAMS_SIZE, ctypes.addressof(size), END)
    said = [_Attribute(CLUSTER_DIMENSION, 0, (*cluster,))] if cluster else []
    said += [_Attribute(COOPERATIVE, 0, (1,))] if cooperative else []
    if not said:
        call_driver("cuLaunchKernel", function, *map(c_uint, (*grid, *block, shared)), stream, c_void_p(), extra)
        return
    config = _Config((*grid,), (*block,), shared, stream, (_Attribute * len(said))(*said), len(said))
    if cooperative:  # a graph does not accept such a launch with all arguments together
        places = (c_void_p * MOST_PARAMETERS)(*(ctypes.addressof(given) + one for one in _offsets(function)))
        call_driver("cuLaunchKernelEx", byref(config), function, places, c_void_p())
    else:
        call_driver("cuLaunchKernelEx", byref(config), function, c_void_p(), extra)


def _offsets(function: c_void_p) -> Iterator[int]:
    """The offset of each parameter of a kernel in its parameter block."""
    offset, size = c_size_t(), c_size_t()
    for number in range(MOST_PARAMETERS):
        if library().cuFuncGetParamInfo(function, c_size_t(number), byref(offset), byref(size)):
            return
        yield offset.value


def pack_arguments(values: Sequence[int], sizes: Sequence[int]) -> bytes:
    """A parameter block of integers and addresses, each at a multiple of its own size."""
    made = bytearray()
    for value, size in zip(values, sizes, strict=True):
        made += bytes(-len(made) % size)
        made += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(made)


def copy(to: int, out_of: int, nbytes: int, stream: c_void_p) -> None:
    """Copy on the GPU by the driver."""
    call_driver("cuMemcpyDtoDAsync_v2", c_uint64(to), c_uint64(out_of), c_size_t(nbytes), stream)


def set_bytes(to: int, pattern: int, width: int, count: int, stream: c_void_p) -> None:
    """Set `count` elements of 1, 2 or 4 bytes to the same bits."""
    name, kind = {1: ("cuMemsetD8Async", ctypes.c_ubyte), 2: ("cuMemsetD16Async", ctypes.c_ushort),
                  4: ("cuMemsetD32Async", c_uint)}[width]  # fmt: skip
    call_driver(name, c_uint64(to), kind(pattern), c_size_t(count), stream)


@contextmanager
def session() -> Iterator[Session]:
    """A session that finishes its work when you leave it."""
    opened = Session()
    try:
        yield opened
    finally:
        opened.wait()

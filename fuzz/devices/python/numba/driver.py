"""Numba without a GPU: its functions of a GPU's host answer from the host, and a launch goes to the cpu device.

Numba's own compiler makes the PTX. Installed once, before a file is imported. Knows what surrounds the kernels, in
any version of numba-cuda; launches.py knows what a launch is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
from numba import cuda
from numba.cuda import dispatcher
from numba.cuda.cudadrv import devices, driver

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.numba.arrays import DeviceArray, as_device_array, is_tensor, make_device_array, of_tensor
from kfuzz.devices.python.numba.launches import NumbaValue, launch

THREADS = 128
"""Of a block, where a program leaves it to the driver."""


class NumbaGpu:
    """What Numba says of a GPU: an H200."""

    compute_capability = (9, 0)
    id, name, uuid = 0, b"cpu device", "GPU-0"
    MULTIPROCESSOR_COUNT, WARP_SIZE, MAX_THREADS_PER_BLOCK = 132, 32, 1024
    MAX_THREADS_PER_MULTI_PROCESSOR, MAX_SHARED_MEMORY_PER_BLOCK = 2048, 48 << 10
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = 1024, 1024, 64
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = (1 << 31) - 1, 65535, 65535
    MAX_REGISTERS_PER_BLOCK, COOPERATIVE_LAUNCH, CLOCK_RATE = 1 << 16, 1, 1_980_000
    supports_float16 = supports_bfloat16 = True

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse_question(name)

    def reset(self) -> None:
        """Nothing to forget."""


class NumbaContext:
    """What Numba asks of a context."""

    device = NumbaGpu()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse_question(name)

    def __enter__(self) -> "NumbaContext":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to leave."""

    def synchronize(self) -> None: ...

    def reset(self) -> None: ...

    def get_memory_info(self) -> tuple[int, int]:
        return 1 << 30, 1 << 30


class NumbaStream:
    """A stream or an event: all work is done at once."""

    handle = SimpleNamespace(value=0)

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore all options."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, _: object) -> float:
        return 1.0

    @contextmanager
    def auto_synchronize(self) -> Iterator["NumbaStream"]:
        yield self

    def _done(self, *_: object, **__: object) -> None: ...

    synchronize = wait = record = add_callback = _done


CONTEXT = NumbaContext()


def refuse_question(name: str) -> object:
    """Refuse whatever else needs a GPU."""
    CALLS.trouble = UnsupportedError(f"numba.cuda is asked for {name}, which the cpu device does not have")
    raise CALLS.trouble


def to_device(obj: NumbaValue, stream: object = 0, copy: bool = True, to: NumbaValue = None) -> DeviceArray:
    """A copy of an array, as one of a GPU."""
    if to is not None:
        np.copyto(to, obj)
        return to  # type: ignore[no-any-return]  # the array that was given
    return as_device_array(np.array(obj, copy=True, order="K", subok=False))


def device_array(
    shape: int | tuple[int, ...],
    dtype: NumbaValue = np.float64,
    strides: object = None,
    order: str = "C",
    *_: object,
    **__: object,
) -> DeviceArray:
    """A new array; `strides` are those that it has anyway, or a reason to refuse."""
    made = make_device_array(shape, dtype, order)
    if strides is not None and made.strides != strides:
        refuse_question("an array with strides of its own")
    return made


def device_array_like(ary: NumbaValue, *_: object, **__: object) -> DeviceArray:
    """A new array like another."""
    return make_device_array(ary.shape, ary.dtype, "C" if ary.flags.c_contiguous else "F")


def as_cuda_array(obj: NumbaValue, sync: bool = True) -> DeviceArray:
    """An array of another library in the same memory."""
    if isinstance(obj, DeviceArray):
        return obj
    return of_tensor(obj) if is_tensor(obj) else as_device_array(np.asarray(obj))


@contextmanager
def nothing(*_: object, **__: object) -> Iterator[None]:
    """A context in which nothing is different."""
    yield


def ignore(*_: object, **__: object) -> None:
    """Done at once."""


def stream(*_: object, **__: object) -> NumbaStream:
    """A stream or an event."""
    return NumbaStream()


HOST: dict[str, object] = {
    "to_device": to_device, "as_cuda_array": as_cuda_array,
    "is_cuda_array": lambda obj: isinstance(obj, DeviceArray) or is_tensor(obj),
    **dict.fromkeys(("device_array", "pinned_array", "mapped_array", "managed_array"), device_array),
    **dict.fromkeys(("device_array_like", "pinned_array_like", "mapped_array_like"), device_array_like),
    **dict.fromkeys(("stream", "default_stream", "legacy_default_stream", "per_thread_default_stream",
                     "external_stream", "event"), stream),
    **dict.fromkeys(("synchronize", "close", "profile_start", "profile_stop"), ignore),
    **dict.fromkeys(("pinned", "defer_cleanup", "profiling"), nothing),
    "select_device": lambda *_: CONTEXT, "current_context": lambda *_: CONTEXT,
    "get_current_device": lambda: CONTEXT.device,
    "event_elapsed_time": lambda start, end: start.elapsed_time(end),
    "is_available": lambda: True, "detect": lambda: True,
}  # fmt: skip
"""Functions of `numba.cuda`, by their names."""


def install() -> None:
    """Replace what a missing GPU leaves unanswered, and launch on the cpu device."""
    for name, one in HOST.items():
        setattr(cuda, name, one)
    devices.get_context = lambda *_: CONTEXT
    dispatcher.get_context = devices.get_context
    dispatcher.get_current_device = HOST["get_current_device"]
    driver._to_core_stream = stream
    kernel = dispatcher._Kernel
    begin = kernel.__init__

    def begin_with_lines(self: NumbaValue, *args: NumbaValue, **options: NumbaValue) -> None:
        begin(self, *args, **{**options, "lineinfo": True, "debug": False})

    kernel.__init__, kernel.bind, kernel.launch = begin_with_lines, ignore, launch
    dispatcher.ForAll._compute_thread_per_block = lambda self, _: self.thread_per_block or THREADS

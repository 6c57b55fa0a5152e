"""Warp's own library with a GPU that is not there: what it would ask CUDA for is answered here, or by the host.

Warp's Python code calls this library alone. It compiles a module to PTX itself, without a GPU; a launch goes to the
cpu device. Knows the functions of the library; launches.py knows what a launch is.
"""

import ctypes
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.launched.host_calls import ATTRIBUTES, put
from kfuzz.devices.python.warp.launches import USUAL_BLOCK, WarpKernel, launch, sides_of
from kfuzz.devices.python.warp.memory import MEMORY

NativeValue: TypeAlias = Any
"""A number or an address, as Python hands it to a function of C."""
CONTEXT = 1
ARCHITECTURE, PROCESSORS, MOST_SHARED = 90, 16, 97
"""Of an H200, and the numbers of two of its attributes."""
TOTAL_MEMORY = 1 << 30
OWN_MEMORY = 3
"""Warp's number of memory of a GPU."""
FOR_GPU, OF_DEVICE, OF_HOST = "wp_cuda_", "_device", "_host"
COMPILES = "wp_cuda_compile_"
OF_VERSION = ("wp_cuda_toolkit_version",)
ON_HOST = ("wp_array_", "wp_radix_sort_", "wp_segmented_sort_", "wp_runlength_encode_")
"""Functions that compute on a GPU what their twins compute on the host, with the same arguments but for a context."""
WITH_CONTEXT = ("wp_array_copy_device", "wp_array_fill_device")


class LibraryOnCpu:
    """The library, with these functions in place of those that need a GPU."""

    def __init__(self, native: NativeValue) -> None:
        self._native = native
        self._current: int | None = None
        self._numbers = count(2)
        self._texts: dict[int, str] = {}
        self._kernels: dict[int, WarpKernel] = {}

    def __getattr__(self, name: str) -> NativeValue:
        """A function; it is asked for once, and Warp gives it types."""
        is_of_gpu = name.startswith(FOR_GPU) and not name.startswith(COMPILES) and name not in OF_VERSION
        if name in FUNCTIONS:
            found = OwnFunction(FUNCTIONS[name], self)
        elif name.endswith(OF_DEVICE) and name.startswith(ON_HOST):
            found = OwnFunction(self._twin(name), self)
        elif is_of_gpu or name.endswith(OF_DEVICE):
            found = OwnFunction(refusal_of(name), self)
        else:
            found = getattr(self._native, name)
        setattr(self, name, found)
        return found

    def _twin(self, name: str) -> Callable[..., NativeValue]:
        twin = getattr(self._native, name.removesuffix(OF_DEVICE) + OF_HOST)
        has_context = name in WITH_CONTEXT
        return lambda _, *given: twin(*given[has_context:])

    def find_kernel(self, number: NativeValue) -> WarpKernel:
        """A kernel by its handle."""
        return self._kernels[number]

    # what follows is what Warp calls

    def get_current(self) -> int | None:
        return self._current

    def set_current(self, context: NativeValue) -> None:
        self._current = context

    def next_handle(self, *_: NativeValue) -> int:
        return next(self._numbers)

    def load(self, _: NativeValue, path: bytes) -> int:
        """Load a module."""
        made = next(self._numbers)
        self._texts[made] = Path(path.decode()).read_text(encoding="utf-8").rstrip("\0")
        return made

    def unload(self, _: NativeValue, module: int) -> None:
        self._texts.pop(module, None)

    def get_kernel(self, _: NativeValue, module: int, name: bytes) -> int:
        made = next(self._numbers)
        self._kernels[made] = WarpKernel(name.decode(), self._texts[module])
        return made

    def set_cluster(self, kernel: NativeValue, x: int, *_: NativeValue) -> bool:
        self.find_kernel(kernel).cluster = x
        return True

    def launch(
        self, _: NativeValue, kernel: NativeValue, size: int, most_blocks: int, block: int, has_loop: int, cluster: int,
        shared: int, places: Sequence[int], *__: NativeValue,
    ) -> int:  # fmt: skip
        """Launch a kernel, unless there is nothing to do."""
        block, cluster = block if block > 0 else USUAL_BLOCK, max(cluster, 1)
        if size:
            sides = sides_of(size, block, most_blocks, bool(has_loop), cluster)
            launch(self.find_kernel(kernel), sides, block, shared, [int(one or 0) for one in places])
        return 0

    def fill(self, _: NativeValue, address: NativeValue, value: int, nbytes: int, *__: NativeValue) -> bool:
        ctypes.memset(address, value, nbytes)
        return True

    def tile(self, _: NativeValue, *given: NativeValue) -> None:
        self._native.wp_memtile_host(*given)

    def allocate_pinned(self, *given: NativeValue) -> NativeValue:
        return self._native.wp_alloc_host(*given)

    def free_pinned(self, address: NativeValue) -> None:
        self._native.wp_free_host(address)

    def put_memory_info(self, _: NativeValue, *to: NativeValue) -> None:
        for one in to:
            if one is not None:
                put(ctypes.cast(one, ctypes.c_void_p).value, ctypes.c_size_t, TOTAL_MEMORY)

    def put_block_size(self, _: NativeValue, __: NativeValue, ___: int, block: NativeValue, grid: NativeValue) -> bool:
        for to, value in ((block, USUAL_BLOCK), (grid, ATTRIBUTES[PROCESSORS])):
            put(ctypes.cast(to, ctypes.c_void_p).value, ctypes.c_int, value)
        return True


class OwnFunction:
    """A function in place of one of the library's: Warp gives it types as it does to those of C."""

    restype: NativeValue = None

    def __init__(self, call: Callable[..., NativeValue] | None, library: LibraryOnCpu) -> None:
        self._call, self._library = call, library

    def __call__(self, *given: NativeValue) -> NativeValue:
        """Call it with numbers; without a call all is done, and the type of the result says what that is in numbers."""
        if self._call is None:
            return 1 if self.restype is ctypes.c_bool else 0
        return self._call(self._library, *(one.value if isinstance(one, ctypes._SimpleCData) else one for one in given))


def refusal_of(name: str) -> Callable[..., NativeValue]:
    """What is called in place of a function that the cpu device lacks."""

    def refuse(*_: NativeValue) -> None:
        CALLS.trouble = UnsupportedError(f"Warp calls {name}, which the cpu device does not have; use --device gpu")
        raise CALLS.trouble

    return refuse


DONE = None
"""In place of a function that has nothing to do."""


def give(value: NativeValue) -> Callable[..., NativeValue]:
    """A function with this answer."""
    return lambda *_: value


def move(_: LibraryOnCpu, __: NativeValue, to: NativeValue, start: NativeValue, nbytes: int, *___: NativeValue) -> bool:
    """Copy memory, which is all the host's."""
    ctypes.memmove(to, start, nbytes)
    return True


FUNCTIONS: dict[str, Callable[..., NativeValue] | None] = {
    **{f"wp_cuda_{name}": give(1) for name in (
        "driver_is_initialized", "device_get_count", "device_is_uva", "device_get_managed_memory_supported",
        "device_get_concurrent_managed_access_supported", "device_is_mempool_supported", "stream_is_blocking",
        "context_is_primary", "is_mempool_access_enabled",
    )},
    **{f"wp_cuda_{name}": give(0) for name in (
        "device_get_pageable_memory_access", "device_get_direct_managed_mem_access_from_host",
        "device_get_host_native_atomic_supported", "device_is_ipc_supported", "device_get_pci_domain_id",
        "device_get_pci_bus_id", "device_get_pci_device_id", "context_get_device_ordinal", "stream_is_capturing",
        "stream_get_priority", "is_peer_access_supported", "is_peer_access_enabled", "timing_get_result_count",
        "device_get_mempool_release_threshold", "device_get_mempool_used_mem_current",
        "device_get_mempool_used_mem_high", "get_kernel_static_shared_memory", "thread_exchange_capture_mode",
    )},
    **{f"wp_cuda_{name}": DONE for name in (
        "device_get_uuid", "context_check", "context_synchronize", "context_set_stream", "context_push_current",
        "context_pop_current", "stream_destroy", "stream_register", "stream_unregister", "stream_query",
        "stream_synchronize", "stream_wait_event", "stream_wait_stream", "event_destroy", "event_query",
        "event_record", "event_synchronize", "profiler_start", "profiler_stop", "timing_begin", "timing_end",
        "device_set_mempool_release_threshold",
    )},
    **{f"wp_cuda_{name}": LibraryOnCpu.next_handle for name in ("stream_create", "event_create")},
    **{f"wp_alloc_device{name}": lambda _, __, nbytes, *___: MEMORY.allocate(nbytes)
       for name in ("", "_default", "_async", "_managed")},
    **{f"wp_free_device{name}": lambda _, __, address, *___: MEMORY.free(address)
       for name in ("", "_default", "_async")},
    **{f"wp_memcpy_{name}": move for name in ("h2d", "d2h", "d2d")},
    "wp_memset_device": LibraryOnCpu.fill,
    "wp_memtile_device": LibraryOnCpu.tile,
    "wp_alloc_pinned": LibraryOnCpu.allocate_pinned,
    "wp_free_pinned": LibraryOnCpu.free_pinned,
    "wp_cuda_driver_version": lambda library: library._native.wp_cuda_toolkit_version(),
    "wp_cuda_device_get_name": give(b"cpu device"),
    "wp_cuda_device_get_arch": give(ARCHITECTURE),
    "wp_cuda_device_get_sm_count": give(ATTRIBUTES[PROCESSORS]),
    "wp_cuda_device_get_max_shared_memory": give(ATTRIBUTES[MOST_SHARED]),
    "wp_cuda_get_max_shared_memory": give(ATTRIBUTES[MOST_SHARED]),
    "wp_cuda_device_get_primary_context": give(CONTEXT),
    "wp_cuda_device_get_memory_info": LibraryOnCpu.put_memory_info,
    "wp_cuda_context_get_current": LibraryOnCpu.get_current,
    "wp_cuda_context_set_current": LibraryOnCpu.set_current,
    "wp_cuda_event_elapsed_time": give(1.0),
    "wp_cuda_pointer_get_memory_kind": give(OWN_MEMORY),
    "wp_cuda_load_module": LibraryOnCpu.load,
    "wp_cuda_unload_module": LibraryOnCpu.unload,
    "wp_cuda_get_kernel": LibraryOnCpu.get_kernel,
    "wp_cuda_configure_kernel_shared_memory": lambda _, __, nbytes: nbytes <= ATTRIBUTES[MOST_SHARED],
    "wp_cuda_set_kernel_cluster_attrs": LibraryOnCpu.set_cluster,
    "wp_cuda_get_suggested_block_size": LibraryOnCpu.put_block_size,
    "wp_cuda_launch_kernel": LibraryOnCpu.launch,
}  # fmt: skip
"""What is called in place of the library's functions."""

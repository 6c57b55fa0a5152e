"""What the host code that CuTe DSL compiles calls of the CUDA runtime, by names of the DSL's own runtime library."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from kfuzz.devices.python.launched.host_calls import SUCCESS, HostCalls, LaunchAttribute, put, put_attribute
from kfuzz.devices.python.torch.addresses import ADDRESSES

INVALID_CONFIGURATION = 9
LOAD = "_cudaLibraryLoadData"
INT, SIDE, ADDRESS, LONG = ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t
HOST = HostCalls({"__syncthreads()": "cute.arch.sync_threads()", "__syncwarp()": "cute.arch.sync_warp()"}, ADDRESSES)
"""Of this process."""


class RuntimeConfig(ctypes.Structure):
    """cudaLaunchConfig_t."""

    _fields_ = (
        ("sides", SIDE * 6),
        ("shared", LONG),
        ("stream", ADDRESS),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", SIDE),
    )


def _launch(config: Any, kernel: int, arguments: int | None) -> int:  # noqa: ANN401  a pointer
    about = config.contents
    if 0 in about.sides:
        return INVALID_CONFIGURATION
    HOST.launch(kernel, about.sides, about.shared, arguments, about.attributes[: about.count])
    return SUCCESS


def _load_once(module: int, begin: int, load: int, _: int) -> None:
    """Load a module, and find its kernels for the device, by functions of the host code; the last one tells errors."""
    if LONG.from_address(module).value:
        return
    made = LONG(0)
    ctypes.CFUNCTYPE(INT, ADDRESS)(begin)(ctypes.addressof(made))
    ctypes.CFUNCTYPE(INT, ADDRESS, INT)(load)(ctypes.addressof(made), 0)
    put(module, LONG, made.value)


FUNCTIONS: dict[str, tuple[Sequence[Any], Callable[..., int | None]]] = {
    "_cudaGetDevice": ((ADDRESS,), lambda to: put(to, INT, 0)),
    "_cudaGetDeviceCount": ((ADDRESS,), lambda to: put(to, INT, 1)),
    "_cudaDeviceGetAttribute": ((ADDRESS, INT, INT), put_attribute),
    "_cuKernelGetAttribute": ((ADDRESS, INT, ADDRESS, INT), lambda to, *_: put(to, INT, 0)),
    "_cudaFuncSetAttribute": ((ADDRESS, INT, INT), lambda *_: SUCCESS),
    "_cudaKernelSetAttributeForDevice": ((ADDRESS, INT, INT, INT), lambda *_: SUCCESS),
    "_cudaLibraryGetKernel": ((ADDRESS, ADDRESS, ctypes.c_char_p), HOST.find_kernel),
    "cuda_dialect_init_library_once": ((ADDRESS,) * 4, _load_once),
    "_cudaLaunchKernelEx": ((ctypes.POINTER(RuntimeConfig), ADDRESS, ADDRESS), _launch),
}
"""The types of each function's parameters, and what it does."""
CALLED = {name: HOST.as_function(*one) for name, one in FUNCTIONS.items()}


def loader_of(text: str) -> Any:  # noqa: ANN401  a function of C
    """What loads the only module of a host function, whatever machine code it is given."""
    return HOST.as_function((ADDRESS,) * 8, lambda to, *_: HOST.load(to, text))

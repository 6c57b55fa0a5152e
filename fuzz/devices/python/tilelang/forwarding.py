"""CUDA's driver and runtime for TileLang's host code: a library of ours, whose functions call what is here.

TileLang opens both by their names when it first needs one, and gets what the process has opened under that name.
"""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kfuzz.devices import UnsupportedError
from kfuzz.devices.host_compiler import build_library
from kfuzz.devices.python.launched.host_calls import SUCCESS, HostCalls, LaunchAttribute, put, put_attribute
from kfuzz.devices.python.torch.addresses import ADDRESSES

SOURCE = Path(__file__).with_name("forward.cpp")
NAMES = ("libcuda.so.1", "libcudart.so.13")
INT, SIDE, ADDRESS, LONG = ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t
HOST = HostCalls(
    {"__syncthreads()": "T.sync_threads()", "tl.debug_barrier()": "T.sync_threads()"}, ADDRESSES, is_tiled=True
)
"""Of this process."""


class DriverConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("sides", SIDE * 6),
        ("shared", SIDE),
        ("stream", ADDRESS),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", SIDE),
    )


def _launch(kernel: int, *given: int) -> None:
    HOST.launch(kernel, given[:6], given[6], given[8])


def _launch_as_configured(config: Any, kernel: int, arguments: int | None, _: int | None) -> None:  # noqa: ANN401
    about = config.contents
    HOST.launch(kernel, about.sides, about.shared, arguments, about.attributes[: about.count])


def _load(to: int, data: int, *_: object) -> None:
    HOST.load(to, ctypes.string_at(data).decode())


def _refuse(name: bytes) -> None:
    raise UnsupportedError(f"TileLang calls {name.decode()}, which the cpu device does not have; use --device gpu")


DONE = (), lambda: SUCCESS
FUNCTIONS: dict[str, tuple[Sequence[Any], Callable[..., int | None]]] = {
    **dict.fromkeys(
        ("cuModuleUnload", "cuFuncSetAttribute", "cuStreamSetAttribute", "cuCtxResetPersistingL2Cache", "cuCtxSetLimit",
         "cudaSetDevice", "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaGetLastError", "cudaPeekAtLastError",
         "cudaFuncSetAttribute"), DONE,
    ),
    **dict.fromkeys(("cuCtxGetDevice", "cudaGetDevice"), ((ADDRESS,), lambda to: put(to, INT, 0))),
    **dict.fromkeys(("cuDeviceGetAttribute", "cudaDeviceGetAttribute"), ((ADDRESS, INT, INT), put_attribute)),
    **dict.fromkeys(("cuModuleLoadData", "cuModuleLoadDataEx"), ((ADDRESS, ADDRESS), _load)),
    "cudaGetDeviceCount": ((ADDRESS,), lambda to: put(to, INT, 1)),
    "cuModuleGetFunction": ((ADDRESS, ADDRESS, ctypes.c_char_p), HOST.find_kernel),
    "cuLaunchKernel": ((ADDRESS, *(SIDE,) * 7, ADDRESS, ADDRESS, ADDRESS), _launch),
    "cuLaunchKernelEx": ((ctypes.POINTER(DriverConfig), ADDRESS, ADDRESS, ADDRESS), _launch_as_configured),
    "cuTensorMapEncodeTiled": ((ADDRESS, INT, INT, ADDRESS, *(ADDRESS,) * 4, *(INT,) * 4), HOST.encode_map),
}  # fmt: skip
"""The types of each function's parameters, and what it does."""
CALLED = {name: HOST.as_function(*one) for name, one in FUNCTIONS.items()}
MISSING = HOST.as_function((ctypes.c_char_p,), _refuse)
OPENED: list[ctypes.CDLL] = []


def open_libraries() -> None:
    """Open both libraries, whose functions are these."""
    for name in NAMES:
        OPENED.append(ctypes.CDLL(str(build_library(SOURCE, name))))
        for function, one in {**CALLED, "missing": MISSING}.items():
            ADDRESS.in_dll(OPENED[-1], f"kfuzz_{function}").value = ctypes.cast(one, ADDRESS).value

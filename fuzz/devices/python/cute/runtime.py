"""What the host code that CuTe DSL compiles calls of the CUDA runtime: a launch goes to the cpu device.

An exception cannot pass through compiled code: the first one is kept, all later launches are left out, and it is raised
when the host function has returned. Knows the runtime's functions; it knows no version of the DSL.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kfuzz.devices import ClaimError, UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.launched.kernels import LaunchedKernel, Sides, run_launch
from kfuzz.devices.python.launched.packed import parameters_of, unpack_arguments

Place: TypeAlias = int | None
"""An address, as ctypes gives it."""
SUCCESS, INVALID_CONFIGURATION, NOT_FOUND = 0, 9, 500
ATTRIBUTES = {
    1: 1024, 2: 1024, 3: 1024, 4: 64, 5: (1 << 31) - 1, 6: 65535, 7: 65535, 8: 48 << 10, 9: 64 << 10, 10: 32,
    12: 1 << 16, 13: 1_980_000, 16: 132, 38: 50 << 20, 39: 2048, 75: 9, 76: 0, 81: 228 << 10, 82: 1 << 16, 95: 1,
    97: 227 << 10, 106: 32,
}  # fmt: skip
"""An H200's, by the numbers of cudaDeviceAttr."""
CLUSTER, COOPERATIVE = 4, 2
"""Attributes of a launch that matter here: a dependent launch waits for its kernel anyway."""
WORDS = {"__syncthreads()": "cute.arch.sync_threads()", "__syncwarp()": "cute.arch.sync_warp()"}


class LaunchAttribute(ctypes.Structure):
    """cudaLaunchAttribute."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16))


class LaunchConfig(ctypes.Structure):
    """cudaLaunchConfig_t."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", ctypes.c_uint32),
    )


class HostCalls:
    """The modules and kernels that are loaded, and what went wrong in a launch."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._kernels: list[tuple[str, str]] = []
        self._error: BaseException | None = None

    def raise_error(self) -> None:
        """Raise what a launch has raised."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def attempt(self, call: Callable[[], int]) -> int:
        """The answer to the host; success if the cpu device raises something, or did so before."""
        if self._error is not None:
            return SUCCESS
        try:
            return call()
        except BaseException as error:  # it is raised again, in Python
            self._error = error
            if isinstance(error, ClaimError):
                CALLS.trouble = error
            return SUCCESS

    def load(self, text: str) -> int:
        """The number of a module."""
        self._texts.append(text)
        return len(self._texts)

    def kernel(self, module: int, name: str) -> int:
        """The number of a kernel of a module."""
        self._kernels.append((self._texts[module - 1], name))
        return len(self._kernels)

    def launch(self, kernel: int, config: LaunchConfig, arguments: Place) -> int:
        """Launch a kernel."""
        text, name = self._kernels[kernel - 1]
        attributes = {one.id: one.value for one in config.attributes[: config.count]}
        grid, block = _sides(config.grid), _sides(config.block)
        if 0 in (*grid, *block):
            return INVALID_CONFIGURATION
        cluster = _sides(attributes[CLUSTER]) if CLUSTER in attributes else ()
        count = len(parameters_of(text, name))
        places = (ctypes.c_void_p * count).from_address(arguments) if count and arguments else ()
        run_launch(
            LaunchedKernel(
                name,
                text,
                grid,
                block,
                int(config.shared),
                cluster=cluster if cluster and cluster != (1, 1, 1) else (),
                is_cooperative=COOPERATIVE in attributes and bool(attributes[COOPERATIVE][0]),
                words=WORDS,
            ),
            unpack_arguments(text, name, [int(one or 0) for one in places]),
        )
        return SUCCESS


HOST = HostCalls()
"""Of this process."""


def _sides(of: Sequence[int]) -> Sides:
    return int(of[0]), int(of[1]), int(of[2])


def _put(place: Place, kind: Any, value: int) -> int:  # noqa: ANN401  a type of ctypes
    kind.from_address(place).value = value
    return SUCCESS


def _attribute(place: Place, number: int, _: int) -> int:
    if number not in ATTRIBUTES:
        raise UnsupportedError(f"the CUDA runtime is asked for device attribute {number}, which the cpu device lacks")
    return _put(place, ctypes.c_int, ATTRIBUTES[number])


def _launch(kernel: int, *given: Any) -> int:  # noqa: ANN401  numbers and addresses
    config = LaunchConfig(given[:3], given[3:6], given[7])
    return HOST.launch(kernel, config, given[6])


INT, ADDRESS, LONG = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
FUNCTIONS: dict[str, tuple[Sequence[Any], Callable[..., int]]] = {
    "_cudaGetDevice": ((ADDRESS,), lambda to: _put(to, INT, 0)),
    "_cudaGetDeviceCount": ((ADDRESS,), lambda to: _put(to, INT, 1)),
    "_cudaSetDevice": ((INT,), lambda _: SUCCESS),
    "_cudaDeviceSynchronize": ((), lambda: SUCCESS),
    "_cudaStreamSynchronize": ((ADDRESS,), lambda _: SUCCESS),
    "_cudaDeviceGetAttribute": ((ADDRESS, INT, INT), _attribute),
    "_cuKernelGetAttribute": ((ADDRESS, INT, ADDRESS, INT), lambda to, *_: _put(to, INT, 0)),
    "_cudaFuncSetAttribute": ((ADDRESS, INT, INT), lambda *_: SUCCESS),
    "_cudaKernelSetAttributeForDevice": ((ADDRESS, INT, INT, INT), lambda *_: SUCCESS),
    "_cudaLibraryGetKernel": (
        (ADDRESS, ADDRESS, ctypes.c_char_p),
        lambda to, module, name: _put(to, LONG, HOST.kernel(module, name.decode())),
    ),
    "_cudaLaunchKernelEx": (
        (ctypes.POINTER(LaunchConfig), ADDRESS, ADDRESS),
        lambda config, kernel, arguments: HOST.launch(kernel, config.contents, arguments),
    ),
    "_cudaLaunchKernel": ((ADDRESS, *(ctypes.c_uint32,) * 6, ADDRESS, LONG, ADDRESS), _launch),
}
"""The types of each function's parameters, and what it does."""


def as_function(parameters: Sequence[Any], call: Callable[..., int]) -> Any:  # noqa: ANN401  a function of C
    """A function of C that does this."""

    def called(*given: Any) -> int:  # noqa: ANN401  numbers and addresses
        return HOST.attempt(lambda: call(*given))

    return ctypes.CFUNCTYPE(ctypes.c_int, *parameters)(called)


CALLED = {name: as_function(*one) for name, one in FUNCTIONS.items()}
LOAD = "_cudaLibraryLoadData"


def loader_of(text: str) -> Any:  # noqa: ANN401  a function of C
    """What loads the only module of a host function, whatever machine code it is given."""
    return as_function(
        (ADDRESS, *(ADDRESS,) * 3, INT, ADDRESS, ADDRESS, INT), lambda to, *_: _put(to, LONG, HOST.load(text))
    )

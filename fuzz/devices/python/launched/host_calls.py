"""What compiled host code calls of CUDA, of any language: it loads modules, finds kernels, and launches them.

An exception cannot pass through compiled code: the first one is kept, all later calls are left out, and it is raised
when the host function has returned. Knows numbers and addresses, as C passes them.
"""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from kfuzz.devices import ClaimError, TensorMap, UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.imitated_gpu import GPU
from kfuzz.devices.python.launched.arguments import LaunchArguments
from kfuzz.devices.python.launched.kernels import LaunchedKernel, Sides, run_launch
from kfuzz.devices.python.launched.packed import (
    MAP_BYTES,
    EncodedMaps,
    TabledMemory,
    parameters_of,
    unpack_arguments,
)

HostPlace: TypeAlias = int | None
"""An address, as ctypes gives it."""
SUCCESS = 0
ATTRIBUTES = {
    1: 1024, 2: 1024, 3: 1024, 4: 64, 5: (1 << 31) - 1, 6: 65535, 7: 65535, 8: 48 << 10, 9: 64 << 10, 10: 32,
    12: 1 << 16, 13: 1_980_000, 16: 132, 38: 50 << 20, 39: 2048, 81: 228 << 10, 82: 1 << 16, 95: 1,
    97: 227 << 10, 106: 32,
}  # fmt: skip
"""An H200's, by the numbers of CUdevice_attribute, which are those of cudaDeviceAttr."""
CAPABILITY = 75, 76
"""The numbers of its two attributes."""
COOPERATIVE, CLUSTER = 2, 4
"""Attributes of a launch that matter here: a dependent launch waits for its kernel anyway."""
MOST_TYPES = 10
"""Of tensor maps: the cpu device lacks those after bfloat16."""


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute, and cudaLaunchAttribute."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16))


class HostCalls:
    """The modules and kernels that are loaded, and what went wrong in a launch.

    `words`: what the language says for words of CUDA. `known`: the memory whose addresses it may pass. `is_tiled`: its
    source has programs and no threads.
    """

    def __init__(self, words: Mapping[str, str], known: TabledMemory, is_tiled: bool = False) -> None:
        self._words, self._known, self._is_tiled = words, known, is_tiled
        self._texts: list[str] = []
        self._kernels: list[tuple[str, str]] = []
        self._maps = EncodedMaps()
        self._error: BaseException | None = None

    @contextmanager
    def raise_errors(self) -> Iterator[None]:
        """Run host code, and then raise what a launch has raised; nothing that was left by a call without this."""
        self._error = None
        try:
            yield
        finally:
            error, self._error = self._error, None
            if error is not None:
                raise error

    def as_function(self, parameters: Sequence[Any], call: Callable[..., int | None]) -> Any:  # noqa: ANN401  of ctypes
        """A function of C that does this and returns a number, success if it gives none."""

        def called(*given: Any) -> int:  # noqa: ANN401  numbers and addresses
            if self._error is not None:
                return SUCCESS
            try:
                return call(*given) or SUCCESS
            except BaseException as error:  # it is raised again, in Python
                self._error = error
                if isinstance(error, ClaimError):
                    CALLS.trouble = error
                return SUCCESS

        return ctypes.CFUNCTYPE(ctypes.c_int, *parameters)(called)

    def load(self, to: HostPlace, text: str) -> None:
        """Load a module: its number takes the place of a handle."""
        self._texts.append(text)
        put(to, ctypes.c_size_t, len(self._texts))

    def find_kernel(self, to: HostPlace, module: int, name: bytes) -> None:
        """Find a kernel of a module: its number takes the place of a handle."""
        self._kernels.append((self._texts[module - 1], name.decode()))
        put(to, ctypes.c_size_t, len(self._kernels))

    def launch(
        self, kernel: int, sides: Sequence[int], shared: int, arguments: HostPlace,
        attributes: Sequence[LaunchAttribute] = (),
    ) -> None:  # fmt: skip
        """Launch a kernel: `sides` are those of the grid and those of a block."""
        text, name = self._kernels[kernel - 1]
        known = {one.id: one.value for one in attributes}
        cluster = as_sides(known[CLUSTER]) if CLUSTER in known else ()
        count = len(parameters_of(text, name))
        places = (ctypes.c_void_p * count).from_address(arguments) if count and arguments else ()
        run_launch(
            LaunchedKernel(
                name,
                text,
                as_sides(sides[:3]),
                as_sides(sides[3:]),
                int(shared),
                cluster=() if cluster == (1, 1, 1) else cluster,
                is_cooperative=COOPERATIVE in known and bool(known[COOPERATIVE][0]),
                is_tiled=self._is_tiled,
                words=self._words,
            ),
            self._unpack(text, name, [int(one or 0) for one in places]),
        )

    def _unpack(self, text: str, name: str, places: Sequence[int]) -> LaunchArguments:
        """The arguments at these places, and the arrays whose addresses stand in arrays of integers among them."""
        made = unpack_arguments(text, name, places, self._maps, self._known)
        made.follow_addresses(self._known.find_in)
        return made

    def encode_map(self, to: HostPlace, kind: int, rank: int, address: int, *more: int) -> None:
        """Encode a tensor map: the places of sizes, strides, box and steps follow, and four numbers."""
        sizes = (ctypes.c_uint64 * rank).from_address(more[0])
        strides = (ctypes.c_uint64 * (rank - 1)).from_address(more[1]) if rank > 1 else ()
        box, steps = ((ctypes.c_uint32 * rank).from_address(at) for at in more[2:4])
        interleave, swizzle, _, fill = more[4:]
        if interleave or kind >= MOST_TYPES or any(one != 1 for one in steps):
            raise UnsupportedError("a tensor map with steps, interleaved or of packed numbers, which only a GPU takes")
        made = TensorMap(kind, tuple(sizes), tuple(strides), tuple(box), swizzle, fill)
        ctypes.memmove(to or 0, self._maps.encode(address, made), MAP_BYTES)


def as_sides(of: Sequence[int]) -> Sides:
    return int(of[0]), int(of[1]), int(of[2])


def put(place: HostPlace, kind: Any, value: int) -> None:  # noqa: ANN401  a type of ctypes
    """Write a number where a function of C is asked to."""
    kind.from_address(place).value = value


def put_attribute(place: HostPlace, number: int, _: int) -> None:
    """Write an attribute of the device."""
    known = {**ATTRIBUTES, **dict(zip(CAPABILITY, GPU.capability, strict=True))}
    if number not in known:
        raise UnsupportedError(f"CUDA is asked for device attribute {number}, which the cpu device lacks")
    put(place, ctypes.c_int, known[number])

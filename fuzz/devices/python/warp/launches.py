"""A launch of Warp on the cpu device: its kernel as Warp's own library would launch it."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np
import warp
from warp._src import codegen, types

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.launched.kernels import LaunchedKernel, Sides, run_launch
from kfuzz.devices.python.launched.packed import EncodedMaps, unpack_arguments
from kfuzz.devices.python.warp.memory import MEMORY
from kfuzz.oracle.numbers.elements import BF16, Element, element_of_dtype

WarpValue: TypeAlias = Any
"""A thing of Warp's."""
WORDS = {"__syncthreads()": "an operation on tiles"}
MOST_SIDE, MOST_THREADS, USUAL_BLOCK = 65535, 1 << 24, 256
"""Of a grid without a loop, and of a launch that does not say it."""
BOUNDS = "dim"
"""The first argument of any kernel: the sizes of the launch."""
NO_MAPS = EncodedMaps()


@dataclass
class WarpKernel:
    """A function of a loaded module."""

    name: str
    text: str
    of: WarpValue = None
    """Warp's kernel, which has the names and types of its arguments."""
    cluster: int = 1


@dataclass(frozen=True)
class ArrayPlace:
    """An array in the bytes of an argument: its name, where its address is, and the type of its elements."""

    name: str
    at: int
    element: Element | None


def sides_of(size: int, block: int, most_blocks: int, has_loop: bool, cluster: int) -> Sides:
    """The grid of a launch of so many threads."""
    blocks = -(-size // block)
    if has_loop:
        most = most_blocks if 0 < most_blocks < blocks else blocks
        return (most if most == blocks else most // cluster * cluster), 1, 1
    most = max(MOST_THREADS // block // cluster * cluster, cluster)
    x = min(blocks, most)
    rows = -(-blocks // x)
    y = min(rows, MOST_SIDE)
    return x, y, min(-(-rows // y), MOST_SIDE)


def launch(kernel: WarpKernel, sides: Sides, block: int, shared: int, places: Sequence[int]) -> None:
    """Launch a kernel; `places` has the address of each argument."""
    arguments = kernel.of.adj.args
    for argument, place in zip(cycle(arguments), places[1:], strict=False):  # those of the backward come twice
        for one in arrays_in(argument.label, argument.type):
            if one.element is not None:
                MEMORY.name_element(ctypes.c_uint64.from_address(place + one.at).value, one.element)
    run_launch(
        LaunchedKernel(
            kernel.name,
            kernel.text,
            sides,
            (block, 1, 1),
            shared,
            cluster=(kernel.cluster, 1, 1) if kernel.cluster > 1 else (),
            words=WORDS,
        ),
        unpack_arguments(
            kernel.text, kernel.name, places, NO_MAPS, MEMORY, [BOUNDS, *(one.label for one in arguments)]
        ),
    )


def arrays_in(name: str, kind: WarpValue, at: int = 0) -> Iterator[ArrayPlace]:
    """The arrays in an argument of this type."""
    if isinstance(kind, codegen.Struct):
        for field, variable in kind.vars.items():
            yield from arrays_in(f"{name}.{field}", variable.type, at + getattr(kind.ctype, field).offset)
    elif types.is_array(kind):
        if isinstance(kind.dtype, codegen.Struct) and any(arrays_in(name, kind.dtype)):
            CALLS.trouble = UnsupportedError(
                f"{name} of a launch is an array of structures that hold arrays, which the cpu device does not take"
            )
            raise CALLS.trouble
        yield ArrayPlace(name, at, element_of(kind.dtype))


def element_of(dtype: WarpValue) -> Element | None:
    """The type of the numbers in an array of this type; None of structures."""
    number = getattr(dtype, "_wp_scalar_type_", dtype)
    if number is warp.bfloat16:
        return BF16
    kind = types.warp_type_to_np_dtype.get(number)
    return element_of_dtype(np.dtype(kind)) if kind is not None else None

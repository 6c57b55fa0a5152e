"""A launch of Numba on the cpu device: its arguments as Numba passes them, each array with its size and strides."""

import inspect
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numba import types

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.launched.arguments import LaunchArguments
from kfuzz.devices.python.launched.kernels import LaunchedKernel, Sides, run_launch
from kfuzz.devices.python.numba.arrays import is_tensor, memory_of, of_tensor
from kfuzz.oracle.numbers.elements import F32, F64, U32, element_of_dtype

NumbaValue: TypeAlias = Any
"""A thing of Numba's, which has types for none of them."""
WORDS = {"__syncthreads()": "cuda.syncthreads()", "__syncwarp()": "cuda.syncwarp()"}
ONLY_IN = "In"
"""Numba's mark of an array that is not copied back."""


def launch(
    self: NumbaValue,
    args: Sequence[NumbaValue],
    griddim: Sides,
    blockdim: Sides,
    stream: object = 0,
    sharedmem: int = 0,
) -> None:
    """Launch a kernel that Numba has compiled."""
    made = LaunchArguments()
    names = list(inspect.signature(self.py_func).parameters)
    for name, kind, value in zip(names, self.argument_types, args, strict=True):
        for extension in reversed(self.extensions):
            kind, value = extension.prepare_args(kind, value, stream=stream, retr=[])  # noqa: PLW2901
        _add(made, name, kind, value)
    run_launch(
        LaunchedKernel(
            self.entry_name,
            self._codelibrary.get_asm_str(),
            _sides(griddim),
            _sides(blockdim),
            int(sharedmem),
            is_cooperative=bool(self.cooperative),
            words=WORDS,
        ),
        made,
    )


def _sides(given: Sequence[NumbaValue]) -> Sides:
    x, y, z = map(int, given)
    return x, y, z


def _add(made: LaunchArguments, name: str, kind: NumbaValue, value: NumbaValue) -> None:
    """Add an argument of this type."""
    if isinstance(kind, types.Array):
        is_marked = not isinstance(value, np.ndarray) and hasattr(value, "value")
        given = value.value if is_marked else value
        array = of_tensor(given) if is_tensor(given) else np.asanyarray(given)
        array = array.copy() if is_marked and type(value).__name__ == ONLY_IN else array
        made.add_null()  # what counts references, and the object that owns it
        made.add_null()
        made.add_integers([array.size, array.itemsize])
        made.add_array(name, memory_of(array), element_of_dtype(array.dtype) or U32, array.ctypes.data)
        made.add_integers([*array.shape, *array.strides])
    elif isinstance(kind, types.BaseTuple):
        for number, (inner, one) in enumerate(zip(kind, value, strict=True)):
            _add(made, f"{name}[{number}]", inner, one)
    elif isinstance(kind, types.Integer | types.Boolean):
        made.add_integers([int(value)])
    elif isinstance(kind, types.Float):
        _add_float(made, kind, value)
    elif isinstance(kind, types.Complex):
        _add_float(made, kind.underlying_float, value.real)
        _add_float(made, kind.underlying_float, value.imag)
    elif isinstance(kind, types.EnumMember):
        _add(made, name, kind.dtype, value.value)
    else:
        CALLS.trouble = UnsupportedError(f"{name} is {kind}, which the cpu device does not take; use --device gpu")
        raise CALLS.trouble


def _add_float(made: LaunchArguments, kind: NumbaValue, value: float) -> None:
    number = np.array(value, np.dtype(str(kind)))
    bits = int(number.view(f"<i{number.itemsize}"))
    if number.itemsize < F32.bytes:
        made.add_integers([bits])
    else:
        made.add_float(bits, F64 if number.itemsize == F64.bytes else F32)

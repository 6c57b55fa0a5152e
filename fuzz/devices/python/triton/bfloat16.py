"""bfloat16 for Triton's interpreter, which stores it as 16-bit integers and adds and multiplies those.

It also truncates where a GPU rounds. Here a bfloat16 is stored as the float32 of its value, and rounded to nearest,
ties to even, at each operation that makes one.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from triton import language as tl
from triton.runtime import interpreter

Lanes = NDArray[Any]
Handle = Any
"""A value of the interpreter's, `interpreter.TensorHandle`."""
Type = Any
"""A type of Triton's language."""
Builder = Any
"""The interpreter's own, whose methods these become: Triton has types for none of them."""


def is_bfloat16(handle: Handle) -> bool:
    """Whether a value is of bfloat16, or an address of one."""
    return bool(handle.get_element_ty() == tl.bfloat16)


def wide(bits: Lanes) -> Lanes:
    """The numbers that 16 bits stand for."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def narrow(numbers: Lanes, cut: bool = False) -> Lanes:
    """The bits of the nearest bfloat16, or of the next one toward zero; a NaN stays one."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    nearest = bits if cut else bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))
    return (np.where(np.isnan(numbers), bits | np.uint32(0x400000), nearest) >> 16).astype(np.uint16)


def round_to_bfloat16(numbers: Lanes, cut: bool = False) -> Lanes:
    """The nearest bfloat16 as a float32."""
    with np.errstate(all="ignore"):
        return wide(narrow(np.asarray(numbers, np.float32), cut)).reshape(np.shape(numbers))


def install() -> None:
    """Make the interpreter store bfloat16 this way; other types are not affected."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    dtype_of, is_valid = interpreter._get_np_dtype, interpreter._validate_np_data_size
    binary, cast = builder.binary_op, builder.cast_impl
    load, store, add = builder.create_masked_load, builder.create_masked_store, builder.create_atomic_rmw
    convert, view = builder.create_fp_to_fp, builder.create_bitcast

    def dtype(of: Type) -> np.dtype[Any]:
        return np.dtype(np.float32) if of.scalar == tl.bfloat16 else dtype_of(of)

    def valid(array: Lanes, of: Type) -> bool:
        return bool(array.itemsize <= 4 if of == tl.bfloat16 else is_valid(array, of))

    def operation(self: Builder, one: Handle, other: Handle, op: Callable[..., Lanes]) -> Handle:
        made = binary(self, one, other, op)
        if is_bfloat16(made) and made.data.dtype == np.float32:
            made.data = round_to_bfloat16(made.data)
        return made

    def cast_to(self: Builder, src: Handle, to: Type) -> Handle:
        if to.scalar == tl.bfloat16:
            return handle(round_to_bfloat16(src.data), to.scalar)
        return handle(src.data.astype(dtype(to)), to.scalar) if is_bfloat16(src) else cast(self, src, to)

    def convert_to(self: Builder, src: Handle, to: Type, mode: object) -> Handle:
        if tl.bfloat16 not in (to.scalar, src.get_element_ty()):
            return convert(self, src, to, mode)
        if to.scalar == tl.bfloat16:
            return handle(round_to_bfloat16(src.data, mode == interpreter._ir.ROUNDING_MODE.RTZ), to.scalar)
        return cast_to(self, src, to)

    def bits(self: Builder, src: Handle, to: Type) -> Handle:
        if is_bfloat16(src):
            return handle(narrow(src.data).view(dtype_of(to)), to.scalar)
        return handle(wide(src.data.view(np.uint16)), to.scalar) if to.scalar == tl.bfloat16 else view(self, src, to)

    def loaded(self: Builder, pointers: Handle, mask: Handle, other: Handle, *rest: object) -> Handle:
        if not is_bfloat16(pointers):
            return load(self, pointers, mask, other, *rest)
        left = np.zeros(pointers.data.shape, np.float32) if other is None else other.data
        held = interpreter._interpreter.load(pointers.data, mask.data, narrow(left), np.dtype(np.uint16))
        return handle(wide(held), tl.bfloat16)

    def stored(self: Builder, pointers: Handle, value: Handle, mask: Handle, *rest: object) -> object:
        if not is_bfloat16(pointers):
            return store(self, pointers, value, mask, *rest)
        return interpreter._interpreter.store(pointers.data, narrow(value.data), mask.data)

    def added(self: Builder, op: object, pointers: Handle, value: Handle, mask: Handle, *rest: object) -> Handle:
        if not is_bfloat16(pointers):
            return add(self, op, pointers, value, mask, *rest)
        before = np.zeros(pointers.data.shape, np.float32)
        numbers = np.broadcast_to(value.data, pointers.data.shape)
        for at in np.ndindex(pointers.data.shape):
            if np.broadcast_to(mask.data, pointers.data.shape)[at]:
                cell = ctypes.c_uint16.from_address(int(pointers.data[at]))
                before[at] = wide(np.asarray(cell.value))
                cell.value = int(narrow(before[at] + numbers[at]))
        return handle(before, tl.bfloat16)

    interpreter._get_np_dtype, interpreter._validate_np_data_size = dtype, valid
    builder.binary_op, builder.cast_impl, builder.create_fp_to_fp, builder.create_bitcast = (
        operation, cast_to, convert_to, bits,
    )  # fmt: skip
    builder.create_masked_load, builder.create_masked_store, builder.create_atomic_rmw = loaded, stored, added
    builder.get_bf16 = lambda _, value: handle(round_to_bfloat16(np.array([value])), tl.bfloat16)


__all__ = ["install", "narrow", "wide"]

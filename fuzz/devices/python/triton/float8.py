"""float8 for Triton's interpreter, whose casts cut denormals, round ties up, and make numbers of infinity and NaN.

A value is stored as its code, as there, and converted by the type's grid. What lies beyond the largest number becomes
the largest, as with cvt.satfinite, to which PTX has no alternative for these types; NaN stays NaN.
"""

from typing import Any

import numpy as np
from triton import language as tl
from triton.runtime import interpreter

from kfuzz.devices.python.triton.bfloat16 import Lanes
from kfuzz.oracle.numbers.elements import ELEMENTS, Element, encode, values
from kfuzz.oracle.numbers.grid import grid_of

FLOAT8 = {one.triton: one for one in ELEMENTS.values() if one.triton.startswith("float8") and hasattr(tl, one.triton)}


def element_of_type(of: Any) -> Element | None:  # noqa: ANN401  a type of Triton's language
    """The float8 that a type of Triton means, or an array of it; None for other types."""
    scalar = of.scalar
    return next((one for name, one in FLOAT8.items() if getattr(tl, name) == scalar), None)


def numbers_of(data: Lanes, element: Element | None) -> Lanes:
    """The numbers that the interpreter's data mean."""
    return data if element is None else values(np.ascontiguousarray(data).view(element.dtype))


def codes_of_numbers(numbers: Lanes, element: Element, toward_zero: bool) -> Lanes:
    """The codes of the nearest numbers of a float8, or of the next ones toward zero."""
    plain = np.asarray(numbers, np.float64)
    rounded = grid_of(element).round(plain, "zero" if toward_zero else "even")
    signed = np.where(np.isnan(plain), np.nan, np.copysign(rounded, plain))
    return encode(signed, element).view(np.uint8).reshape(np.shape(numbers))


def install() -> None:
    """Make the interpreter convert float8 this way; other types are not affected."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    convert, cast = builder.create_fp_to_fp, builder.cast_impl

    def converted(src: Any, to: Any, toward_zero: bool) -> Any:  # noqa: ANN401  values of the interpreter
        numbers, element = numbers_of(src.data, element_of_type(src.dtype)), element_of_type(to)
        if element is not None:
            return handle(codes_of_numbers(numbers, element, toward_zero), to.scalar)
        return handle(numbers.astype(interpreter._get_np_dtype(to)), to.scalar)

    def is_float8(src: Any, to: Any) -> bool:  # noqa: ANN401  values of the interpreter
        return element_of_type(src.dtype) is not None or element_of_type(to) is not None

    def convert_to(self: Any, src: Any, to: Any, mode: object) -> Any:  # noqa: ANN401  values of the interpreter
        if not is_float8(src, to):
            return convert(self, src, to, mode)
        return converted(src, to, mode == interpreter._ir.ROUNDING_MODE.RTZ)

    def cast_to(self: Any, src: Any, to: Any) -> Any:  # noqa: ANN401  values of the interpreter
        return converted(src, to, False) if is_float8(src, to) else cast(self, src, to)

    builder.create_fp_to_fp, builder.cast_impl = convert_to, cast_to

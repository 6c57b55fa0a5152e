"""The numbers of a narrow type in recipes: of its codes, nearest to float32 numbers, and the ties between them.

A NaN keeps its code in the low bits of a float32 NaN, so that every code passes through float32 unchanged.
Knows element types; it knows no recipe.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import Element, element_of, encode
from kfuzz.oracle.numbers.grid import NAN, grid_of

_NAN, _CODE = np.uint32(0x7FC00000), np.uint32(0xFF)


@cache
def finite_codes(element: Element) -> NDArray[np.uint32]:
    """The codes of finite numbers, in ascending order."""
    return np.flatnonzero(np.isfinite(element.numbers)).astype(np.uint32)


@cache
def _bits_of_codes(element: Element) -> NDArray[np.uint32]:
    """For each code the float32 bits of its number, which float32 holds exactly."""
    numbers = element.numbers.astype(np.float32)
    bits = numbers.view(np.uint32).copy()
    is_nan = np.isnan(numbers)
    bits[is_nan] = _NAN | np.flatnonzero(is_nan).astype(np.uint32)
    return bits


def numbers_of_codes(bits: NDArray[np.uint32], element: Element, is_finite: bool) -> NDArray[np.uint32]:
    """The numbers, as float32 bits, of the codes that any bits mean: all codes, or the finite ones in turn."""
    codes = finite_codes(element)[bits % len(finite_codes(element))] if is_finite else bits % len(element.numbers)
    return _bits_of_codes(element)[codes]


@np.errstate(invalid="ignore")  # a signalling NaN
def encode_numbers(numbers: NDArray[np.float32], element: Element) -> NDArray[Any]:
    """Each number as the nearest of a narrow type, ties to even; beyond the largest it is infinity or the largest.

    A NaN is the code in its low bits if that is one of NaN, else the type's own, or 0 if it has none.
    """
    grid = grid_of(element)
    places = grid.places(numbers.astype(np.float64))
    is_nan = places == NAN
    wanted = np.where(is_nan, 0.0, grid.numbers[places])
    if element.has_infinity:
        wanted = np.where(np.isinf(numbers), numbers, wanted)
    codes = encode(np.copysign(wanted, numbers) if element.is_float else wanted, element).view(np.uint8)
    if is_nan.any() and element.nan is not None:
        kept = numbers.view(np.uint32) & _CODE
        known = np.isnan(element.numbers)[kept % len(element.numbers)]
        codes = np.where(is_nan, np.where(known, kept, element.nan), codes).astype(np.uint8)
    return np.ascontiguousarray(codes).view(element.dtype)


@cache
def ties_of(name: str) -> NDArray[np.float64]:
    """The finite numbers of a type and the middles between two of them, in ascending order."""
    grid = grid_of(element_of(name))
    return np.unique(np.concatenate([grid.numbers, grid.middles]))

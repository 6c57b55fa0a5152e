"""What the host fills an array with before the first launch, as the bits of one element: `= 0`, `= -inf`, `= 1.5`.

Knows number formats and decimals; never arrays. A decimal is rounded once, as a C++ compiler rounds a literal of the
array's own type.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kfuzz.devices import DTYPES, Element

FLOATS = {"f16": (11, -14), "bf16": (8, -126), "f32": (24, -126), "f64": (53, -1022)}
"""Binary digits of a significand, and the exponent of the least normal number."""
DECIMAL = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?")
INTEGER = re.compile(r"-?\d{1,20}")


class FillError(ValueError):
    """The text is no value of the element's type; the message says which values are."""


@dataclass(frozen=True)
class Fill:
    """A value as the claim writes it, and the bits that an element holds then."""

    text: str
    bits: int


def fill_of(text: str, element: Element) -> Fill:
    """The fill that a text means for an element type; FillError where the type has no such value."""
    return Fill(text, float_bits(text, element) if element in FLOATS else integer_bits(text, element))


def integer_bits(text: str, element: Element) -> int:
    limits = np.iinfo(DTYPES[element])  # type: ignore[type-var]  # what is not in FLOATS is an integer type
    if not INTEGER.fullmatch(text) or not limits.min <= int(text) <= limits.max:
        raise FillError(f"a fill of {element} is an integer from {limits.min} to {limits.max}")
    return int(text) % (1 << limits.bits)


def float_bits(text: str, element: Element) -> int:
    """Sign, exponent and significand of the nearest float; of two as near, the even one."""
    digits, least = FLOATS[element]
    width = 8 * DTYPES[element].itemsize
    infinity = ((1 << (width - digits)) - 1) << (digits - 1)
    sign = (1 << (width - 1)) if text.startswith("-") else 0
    plain = text.lstrip("+-")
    if plain == "inf":
        return sign | infinity
    if plain == "nan":
        return sign | infinity | 1 << (digits - 2)
    if not DECIMAL.fullmatch(text):
        raise FillError(f"a fill of {element} is a decimal number, inf, -inf or nan")
    bits = nearest(abs(Fraction(text)), digits, least)
    if bits >= infinity:
        raise FillError(f"beyond the largest {element}; write inf for infinity")
    return sign | bits


def nearest(value: Fraction, digits: int, least: int) -> int:
    """The bits of the float nearest to a value of at least 0, which may be those of infinity or beyond."""
    if not value:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, least)
    significand = round(value / Fraction(2) ** (exponent - digits + 1))
    return ((exponent - least) << (digits - 1)) + significand

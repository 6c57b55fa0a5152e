"""The value to which the host sets an array before the first launch, as bits of an element: `= 0`, `= -inf`, `= 1.5`.

Knows number formats and decimals; never arrays. A decimal is rounded once, as a C++ compiler rounds a literal of the
array's own type.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kfuzz.claims.language.expression import Expression
from kfuzz.oracle.numbers.elements import Element

DECIMAL = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?")
INTEGER = re.compile(r"-?\d{1,20}")


class FillError(ValueError):
    """The text is not a value of the element's type; the message says which values are."""


@dataclass(frozen=True)
class Fill:
    """A value as the claim writes it, and the bits of an element that has it, or the size that it is."""

    text: str
    bits: int
    size: Expression | None = None

    def bits_at(self, sizes: Mapping[str, int], element: Element) -> int:
        """The bits of an element at these sizes."""
        return self.bits if self.size is None else self.size(sizes) % (1 << element.bits)


def fill_of(text: str, element: Element) -> Fill:
    """The fill that a text means for an element type; FillError if the type has no such value."""
    return Fill(text, float_bits(text, element) if element.is_float else integer_bits(text, element))


def integer_bits(text: str, element: Element) -> int:
    least, largest = element.least_integer, element.largest_integer
    if not INTEGER.fullmatch(text) or not least <= int(text) <= largest:
        raise FillError(f"a fill of {element} is an integer from {least} to {largest}")
    return int(text) % (1 << element.bits)


def float_bits(text: str, element: Element) -> int:
    """Sign, exponent and significand of the nearest float; if two are equally near, the even one."""
    sign = element.sign_bit if text.startswith("-") else 0
    plain = text.lstrip("+-")
    if plain == "inf" and element.has_infinity:
        return sign | element.infinity
    if plain == "nan" and element.nan is not None:
        return sign | element.nan
    if not DECIMAL.fullmatch(text):
        raise FillError(f"a fill of {element} is {known_fills(element)}")
    bits = nearest(abs(Fraction(text)), element)
    if bits >= element.infinity:
        raise FillError(f"beyond the largest {element}{'; write inf for infinity' * element.has_infinity}")
    if element.kind == "power" and (sign or not Fraction(text)):
        raise FillError(f"a fill of {element} is {known_fills(element)}")
    return sign | bits


def known_fills(element: Element) -> str:
    """What a fill of a float type may be."""
    decimal = "a decimal number" if element.kind != "power" else "a decimal number above 0"
    nan = " or nan" * (element.nan is not None)
    return f"{decimal}{', inf, -inf' * element.has_infinity}{nan}"


def nearest(value: Fraction, element: Element) -> int:
    """The bits of the float nearest to a value of at least 0; they may be those of infinity, or greater."""
    if not value:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, element.least)
    significand = round(value / Fraction(2) ** (exponent - element.p + 1))
    return ((exponent - element.least) << (element.p - 1)) + significand - (element.kind == "power")

"""cvt.rs by fractions: a float and 13 or 16 random bits are rounded away from 0 if both fractions make one or more."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from exact_floats import F32, decode
from ptx_rows import Checked


@dataclass(frozen=True)
class Small:
    """A format: its digits, the exponent of its smallest normal number, and the codes of its largest number and NaN."""

    bits: int
    digits: int
    least: int
    largest: int
    nan: int


SMALL = {
    "f16": Small(16, 11, -14, 0x7BFF, 0x7FFF), "bf16": Small(16, 8, -126, 0x7F7F, 0x7FFF),
    "e4m3": Small(8, 4, -6, 0x7E, 0x7F), "e5m2": Small(8, 3, -14, 0x7B, 0x7F), "e2m3": Small(8, 4, 0, 0x1F, 0x1F),
    "e3m2": Small(8, 3, -2, 0x1F, 0x1F), "e2m1": Small(4, 2, 0, 0x07, 0x07),
}  # fmt: skip
SIGNS = {"e2m3": 0x20, "e3m2": 0x20}


def rounded(bits: int, form: str, random: int, width: int, finite: bool, relu: bool) -> int:
    """The code of one float."""
    small, number = SMALL[form], decode(bits, F32)
    if number is None:
        return small.nan
    if relu and (number.negative or number.is_zero):
        return 0
    sign = number.negative * SIGNS.get(form, 1 << (small.bits - 1))
    beyond = small.largest + (not finite)
    if number.is_infinite:
        return sign | beyond
    exponent = small.least
    while number.size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - small.digits + 1)
    kept, fraction = divmod(number.size / step, 1)
    kept += fraction + Fraction(random, 1 << width) >= 1
    code = ((exponent - small.least) << (small.digits - 1)) + kept
    return sign | min(code, beyond)


def reverse(bits: int) -> int:
    return int(f"{bits:016b}"[::-1], 2)


def two(form: str, width: int, finite: bool, relu: bool, upper: int, lower: int, random: int) -> int:
    mask = (1 << width) - 1
    high = rounded(upper, form, random >> 16 & mask, width, finite, relu)
    return high << 16 | rounded(lower, form, random & mask, width, finite, relu)


def four(form: str, relu: bool, x3: int, x2: int, x1: int, x0: int, random: int) -> int:
    """Each pair shares 16 bits, and its second number reads them from the other end."""
    upper, lower = random >> 16, random & 0xFFFF
    if form == "e2m1":
        upper, lower = random >> 16 & 0xFF00 | random >> 8 & 0xFF, random >> 8 & 0xFF00 | random & 0xFF
    shares = zip((x0, x1, x2, x3), (lower, reverse(lower), upper, reverse(upper)), strict=True)
    return sum(
        rounded(x, form, share, 16, finite=True, relu=relu) << place * SMALL[form].bits
        for place, (x, share) in enumerate(shares)
    )


def random_conversions() -> Iterator[Checked]:
    for words in ("", ".satfinite", ".relu", ".relu.satfinite"):
        finite, relu = "satfinite" in words, "relu" in words
        for form, width in (("f16", 13), ("bf16", 16)):
            yield Checked(
                f"cvt.rs{words}.{form}x2.f32 %0, %1, %2, %3;", ("f:f32", "f:f32", "r"), "r",
                lambda a, b, bits, form=form, width=width, finite=finite, relu=relu: two(
                    form, width, finite, relu, a, b, bits
                ),
            )  # fmt: skip
        for form in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1") if finite else ():
            yield Checked(
                f"cvt.rs{words}.{form}x4.f32 %0, {{%1, %2, %3, %4}}, %5;", (*["f:f32"] * 4, "r"),
                "h" if form == "e2m1" else "r",
                lambda a, b, e, f, bits, form=form, relu=relu: four(form, relu, a, b, e, f, bits),
            )  # fmt: skip

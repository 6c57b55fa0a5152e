"""IEEE arithmetic by fractions: what a float operation gives, in any format and rounding, as bits.

Independent of any float unit: numbers are fractions of whole numbers, and each result is rounded once. NaN is None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

Bits = int | None
"""The bits of a float; None is any NaN."""


@dataclass(frozen=True)
class Format:
    """A binary format: how many bits its exponent and its fraction have."""

    exponent: int
    fraction: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.exponent + self.fraction)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction


F16, BF16, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 23), Format(11, 52)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


@dataclass(frozen=True)
class Number:
    """A number with a sign of its own, or infinity."""

    negative: bool
    size: Fraction
    is_infinite: bool = False

    @property
    def value(self) -> Fraction:
        return -self.size if self.negative else self.size

    @property
    def is_zero(self) -> bool:
        return not self.is_infinite and self.size == 0


def decode(bits: int, form: Format) -> Number | None:
    """The number of these bits; None for NaN."""
    negative, rest = bool(bits & form.sign), bits & (form.sign - 1)
    if rest > form.infinity:
        return None
    if rest == form.infinity:
        return Number(negative, Fraction(0), True)
    field, fraction = rest >> form.fraction, rest & ((1 << form.fraction) - 1)
    significand = fraction if field == 0 else fraction | 1 << form.fraction
    return Number(negative, Fraction(significand) * Fraction(2) ** (max(field, 1) - form.bias - form.fraction))


def round_whole(size: Fraction, negative: bool, mode: str) -> int:
    """The whole number next to a size, by rn, rz, rp or rm."""
    whole, rest = divmod(size, 1)
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    else:
        up = rest > 0 and ((mode == "rp" and not negative) or (mode == "rm" and negative))
    return int(whole) + up


def encode(negative: bool, size: Fraction, form: Format, mode: str = "rn") -> int:
    """The bits of a number that is rounded once."""
    sign = form.sign if negative else 0
    if size == 0:
        return sign
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - form.bias)
    step = Fraction(2) ** (exponent - form.fraction)
    code = round_whole(size / step, negative, mode) + ((exponent + form.bias - 1) << form.fraction)
    if code >= form.infinity:
        outward = mode == "rn" or (mode == "rp" and not negative) or (mode == "rm" and negative)
        code = form.infinity if outward else form.infinity - 1
    return sign | code


def infinite(negative: bool, form: Format) -> int:
    return form.infinity | (form.sign if negative else 0)


def add(a: Number | None, b: Number | None, form: Format, mode: str = "rn") -> Bits:
    """a + b."""
    if a is None or b is None or (a.is_infinite and b.is_infinite and a.negative != b.negative):
        return None
    if a.is_infinite or b.is_infinite:
        return infinite(a.negative if a.is_infinite else b.negative, form)
    total = a.value + b.value
    if total == 0:
        both_zero = a.is_zero and b.is_zero
        negative = a.negative if both_zero and a.negative == b.negative else mode == "rm"
        return form.sign if negative else 0
    return encode(total < 0, abs(total), form, mode)


def product(a: Number | None, b: Number | None) -> Number | None:
    """a b, exactly."""
    if a is None or b is None or (a.is_infinite and b.is_zero) or (b.is_infinite and a.is_zero):
        return None
    return Number(a.negative != b.negative, a.size * b.size, a.is_infinite or b.is_infinite)


def to_bits(number: Number | None, form: Format, mode: str = "rn") -> Bits:
    """A number in a format."""
    if number is None:
        return None
    if number.is_infinite:
        return infinite(number.negative, form)
    return encode(number.negative, number.size, form, mode)


def divide(a: Number | None, b: Number | None, form: Format, mode: str = "rn") -> Bits:
    """a / b."""
    if a is None or b is None or (a.is_infinite and b.is_infinite) or (a.is_zero and b.is_zero):
        return None
    negative = a.negative != b.negative
    if a.is_infinite or b.is_zero:
        return infinite(negative, form)
    return encode(negative, Fraction(0) if b.is_infinite else a.size / b.size, form, mode)


def root(a: Number | None, form: Format, mode: str = "rn") -> Bits:
    """The square root, from a whole root with many digits and a sign of what is left."""
    if a is None or (a.negative and not a.is_zero):
        return None
    if a.is_infinite or a.is_zero:
        return to_bits(a, form)
    shift = 2400  # so that the root of the smallest float64 has a thousand digits
    scaled = a.size * Fraction(2) ** shift
    whole = scaled.numerator // scaled.denominator
    found = isqrt(whole)
    is_exact = found * found == scaled
    return encode(False, Fraction(2 * found + (not is_exact), 2) / Fraction(2) ** (shift // 2), form, mode)


def negated(a: Number | None) -> Number | None:
    return None if a is None else Number(not a.negative, a.size, a.is_infinite)


def flushed(bits: int, form: Format) -> int:
    """Zero in place of a subnormal number."""
    rest = bits & (form.sign - 1)
    return bits & form.sign if 0 < rest < 1 << form.fraction else bits


def clamped(bits: Bits, form: Format) -> int:
    """Within [0, 1]; NaN becomes 0."""
    if bits is None or bits & form.sign:
        return 0
    one = form.bias << form.fraction
    return min(bits, one)


def larger(a: int, b: int, form: Format, keeps_nan: bool = False) -> Bits:
    """The greater of two; +0 is greater than -0; a number beats NaN unless `keeps_nan`."""
    x, y = decode(a, form), decode(b, form)
    if x is None or y is None:
        return None if keeps_nan or (x is None and y is None) else b if x is None else a

    def order(bits: int) -> int:
        return -(bits & (form.sign - 1)) - 1 if bits & form.sign else bits

    return max(a, b, key=order)


def smaller(a: int, b: int, form: Format, keeps_nan: bool = False) -> Bits:
    """The lesser of two."""
    made = larger(a ^ form.sign, b ^ form.sign, form, keeps_nan)
    return None if made is None else made ^ form.sign


def of_sizes(choose: Callable[..., Bits], a: int, b: int, form: Format, keeps_nan: bool) -> Bits:
    """xorsign.abs: of the sizes, with the sign of a product."""
    made = choose(a & (form.sign - 1), b & (form.sign - 1), form, keeps_nan)
    return None if made is None else made | ((a ^ b) & form.sign)


def to_integer(number: Number | None, mode: str, bits: int, is_signed: bool) -> int:
    """The nearest integer that exists, as bits; NaN is 0, or 2^63 in 64 bits."""
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if number is None:
        return 1 << 63 if bits == 64 else 0
    if number.is_infinite:
        value = least if number.negative else most
    else:
        whole = round_whole(number.size, number.negative, mode)
        value = min(max(-whole if number.negative else whole, least), most)
    return value & ((1 << bits) - 1)

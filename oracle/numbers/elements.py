"""The element types of arrays, one row each: their bits, how they are stored, and what each language calls them.

Every other module looks facts up here. To add a type, add its row to `ELEMENTS`. kfuzz computes with numbers of all
formats in float64, which holds every number of the narrower formats exactly.
Long, since it has a row for each type, and how each is stored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[Any]
"""float64 or longdouble numbers, which numpy cannot tell apart in a type."""


@dataclass(frozen=True)
class TorchType:
    """The name of an element type in torch's C++, and its number there: the value of c10::ScalarType."""

    cpp: str
    number: int


Specials = Literal["ieee", "last", "minus zero", "none"]


@dataclass(frozen=True)
class Element:
    """One element type; a case, a claim and a message call it by its name.

    `kind`: a "power" is a float without sign, fraction and zero: a power of two. `bits`: of one element, including the
    sign. `exponent`: how many bits are the exponent; 0 in an integer. `dtype`: how numpy stores it; a type that numpy
    lacks is stored as its bits, and a narrow one names itself in its dtype, because many types have 8 bits.
    `library`: its name in numpy, ml_dtypes, torch and JAX. `c_types`: its names in CUDA; kfuzz writes the first, and
    reads them all. `torch`: None where torch's C++ has no such type. `triton`: its name in Triton.
    `specials`: the bits that are no number: "ieee": those with the largest exponent are infinities and NaNs; "last":
    the largest of each sign is NaN; "minus zero": -0 is NaN; "none". `more_bias`: how far the bias is from IEEE's.
    """

    name: str
    kind: Literal["float", "power", "signed", "unsigned"]
    bits: int
    exponent: int
    dtype: np.dtype[Any]
    library: str
    c_types: tuple[str, ...]
    torch: TorchType | None = None
    triton: str = ""
    specials: Specials = "ieee"
    more_bias: int = 0

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], "Element"], tuple[str]]:
        """Pickle only the name: a row is then the same object in every process."""
        return element_of, (self.name,)

    @property
    def is_float(self) -> bool:
        """Whether it is a float and not an integer."""
        return self.exponent > 0

    @cached_property
    def is_native(self) -> bool:
        """Whether numpy computes with it; another type is stored as its bits."""
        return self.dtype.name == self.library

    @property
    def is_narrow(self) -> bool:
        """Whether it has at most 8 bits and each code is looked up: one element takes one byte, unless it is packed."""
        return self.bits <= 8

    @property
    def bytes(self) -> int:
        """The size of an element in an array."""
        return self.dtype.itemsize

    @property
    def c_type(self) -> str:
        """The name that kfuzz writes in CUDA."""
        return self.c_types[0]

    @property
    def tensor_type(self) -> str:
        """The name that kfuzz writes in a text that includes only torch's headers."""
        return self.torch.cpp if self.torch else self.c_type

    # Integers

    @property
    def least_integer(self) -> int:
        """The smallest integer that it holds."""
        return -(1 << (self.bits - 1)) if self.kind == "signed" else 0

    @property
    def largest_integer(self) -> int:
        """The largest integer that it holds."""
        return (1 << self.bits) - 1 + self.least_integer

    # Floats: a sign, the exponent, and a fraction, as IEEE 754 has them. A power has the exponent alone.

    @property
    def p(self) -> int:
        """Significant bits, including the hidden one."""
        return 1 if self.kind == "power" else self.bits - self.exponent

    @property
    def bias(self) -> int:
        """What is added to an exponent before it is stored."""
        return (1 << (self.exponent - 1)) - 1 + self.more_bias

    @property
    def least(self) -> int:
        """The exponent of the smallest normal number; a power has no zero and no denormals."""
        return -self.bias if self.kind == "power" else 1 - self.bias

    @property
    def sign_bit(self) -> int:
        """The bits of -0; of a power, which has no sign, the end of its bits."""
        return 1 << (self.bits if self.kind == "power" else self.bits - 1)

    @property
    def one(self) -> int:
        """The bits of 1."""
        return 1 if not self.exponent else self.bias << (self.p - 1)

    @property
    def has_infinity(self) -> bool:
        """Whether one of its bit patterns is infinity."""
        return self.is_float and self.specials == "ieee"

    @property
    def infinity(self) -> int:
        """The bits of infinity; greater bit patterns are NaNs. Of a type without infinity, those after the largest."""
        if self.has_infinity:
            return ((1 << self.exponent) - 1) << (self.p - 1)
        return self.sign_bit - (self.specials == "last")

    @property
    def nan(self) -> int | None:
        """The bits of the quiet NaN without a payload; None where there is no NaN."""
        if not self.is_float or self.specials == "none":
            return None
        if self.specials == "minus zero":
            return self.sign_bit
        return self.infinity | 1 << (self.p - 2) if self.has_infinity else self.infinity

    @cached_property
    def u(self) -> float:
        """The largest relative error of one correct rounding."""
        return 2.0**-self.p

    @cached_property
    def min_normal(self) -> float:
        """The smallest normal number."""
        return 2.0**self.least

    @cached_property
    def tiny(self) -> float:
        """The largest error of one correct rounding among the denormals: half of the smallest one."""
        return max(2.0 ** (self.least - self.p), 5e-324)

    @cached_property
    def max(self) -> float:
        """The largest finite number."""
        if not self.is_float:
            return float(self.largest_integer)
        field, rest = divmod(self.infinity - 1, 1 << (self.p - 1))
        return float((1 + rest * 2.0 ** (1 - self.p)) * 2.0 ** (field - self.bias))

    def holds(self, other: "Element") -> bool:
        """Whether each number of another float, its infinities and its NaN, is one of this type, too."""
        return self is other or (
            self.kind == "float" == other.kind
            and self.p >= other.p
            and self.max >= other.max
            and self.least - self.p <= other.least - other.p
            and self.has_infinity >= other.has_infinity
            and (self.nan is not None or other.nan is None)
        )

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number of each code of a narrow type, infinity and NaN included."""
        codes = np.arange(1 << self.bits)
        if not self.is_float:
            return np.where(codes > self.largest_integer, codes - (1 << self.bits), codes).astype(np.float64)
        sign, size = np.divmod(codes, self.sign_bit)
        field, rest = np.divmod(size, 1 << (self.p - 1))
        is_normal = (field > 0) | (self.kind == "power")
        exponent = np.where(is_normal, field, 1) - self.bias
        found = np.ldexp(rest + is_normal * 2.0 ** (self.p - 1), exponent - self.p + 1)
        if self.has_infinity:
            found = np.where(size == self.infinity, np.inf, np.where(size > self.infinity, np.nan, found))
        elif self.specials == "last":
            found = np.where(size == self.infinity, np.nan, found)
        return np.where(codes == self.nan, np.nan, np.where(sign > 0, -found, found))

    def round(self, x: Reals) -> Reals:
        """Round to the nearest, ties to even. A sum that float64 has already rounded is rounded twice.

        Beyond the largest number lies infinity, or NaN where there is none, or, without NaN, the largest number.
        """
        with np.errstate(all="ignore"):
            if self.is_native:
                return x.astype(self.dtype).astype(x.dtype)
            if not self.is_float:
                return np.clip(np.rint(x), self.least_integer, self.largest_integer)
            step = self._steps(x)
            y = np.ldexp(np.rint(np.ldexp(x, -step)), step)
            beyond = np.inf if self.has_infinity else np.nan if self.nan else self.max
            y = np.where(np.abs(y) > self.max, np.copysign(beyond, x), y)
            y = np.where(np.isfinite(x), y, np.copysign(beyond, x))
            return np.where(np.isnan(x), self.max if self.specials == "none" else x, y)

    def truncate(self, x: Reals) -> Reals:
        """Round toward zero, like a multiplier that drops the last bits."""
        with np.errstate(all="ignore"):
            step = self._steps(x)
            return np.where(np.isfinite(x), np.ldexp(np.trunc(np.ldexp(x, -step)), step), x)

    def _steps(self, x: Reals) -> NDArray[np.int32]:
        """The exponent of the last place at each number."""
        _, power = np.frexp(x)
        return np.asarray(np.maximum(power - self.p, self.least - self.p + 1))

    def last_place(self, x: Reals) -> Reals:
        """The distance to the next number."""
        return np.ldexp(np.ones_like(x), self._steps(x))

    def flush(self, x: Reals) -> Reals:
        """Replace denormals by zeros of their sign."""
        return np.where(np.abs(x) < self.min_normal, np.copysign(0.0, x), x)


F32 = Element("f32", "float", 32, 8, np.dtype(np.float32), "float32", ("float",), TorchType("float", 6), "fp32")
F64 = Element("f64", "float", 64, 11, np.dtype(np.float64), "float64", ("double",), TorchType("double", 7), "fp64")
F16 = Element(
    "f16", "float", 16, 5, np.dtype(np.float16), "float16", ("__half", "half"), TorchType("c10::Half", 5), "fp16"
)
BF16 = Element(
    "bf16", "float", 16, 8, np.dtype(np.uint16), "bfloat16", ("__nv_bfloat16",), TorchType("c10::BFloat16", 15), "bf16"
)
I32 = Element("i32", "signed", 32, 0, np.dtype(np.int32), "int32", ("int", "int32_t"), TorchType("int", 3), "int32")
I64 = Element(
    "i64", "signed", 64, 0, np.dtype(np.int64), "int64", ("int64_t", "long"), TorchType("int64_t", 4), "int64"
)
U32 = Element("u32", "unsigned", 32, 0, np.dtype(np.uint32), "uint32", ("unsigned", "uint32_t"), None, "uint32")
TF32 = Element("tf32", "float", 19, 8, np.dtype(np.float32), "tf32", ("wmma::precision::tf32",))
"""The part of a float32 that tensor cores read; it is not the type of any array."""


def _coded(name: str) -> np.dtype[Any]:
    """A byte for each code, in a dtype of its own: that of a record with one field."""
    return np.dtype([(name, np.uint8)])


I16 = Element(
    "i16", "signed", 16, 0, np.dtype(np.int16), "int16", ("int16_t", "short"), TorchType("int16_t", 2), "int16"
)
I8 = Element(
    "i8", "signed", 8, 0, np.dtype(np.int8), "int8", ("int8_t", "signed char", "char"), TorchType("int8_t", 1), "int8"
)
U8 = Element(
    "u8", "unsigned", 8, 0, np.dtype(np.uint8), "uint8", ("uint8_t", "unsigned char"), TorchType("uint8_t", 0), "uint8"
)
BOOL = Element("bool", "unsigned", 1, 0, np.dtype(np.bool_), "bool", ("bool",), TorchType("bool", 11), "int1")
I4 = Element("i4", "signed", 4, 0, _coded("i4"), "int4", ("cutlass::int4b_t",))
U4 = Element("u4", "unsigned", 4, 0, _coded("u4"), "uint4", ("cutlass::uint4b_t",))
E4M3 = Element(
    "e4m3", "float", 8, 4, _coded("e4m3"), "float8_e4m3fn", ("__nv_fp8_e4m3",),
    TorchType("c10::Float8_e4m3fn", 24), "float8e4nv", "last",
)  # fmt: skip
E5M2 = Element(
    "e5m2", "float", 8, 5, _coded("e5m2"), "float8_e5m2", ("__nv_fp8_e5m2",),
    TorchType("c10::Float8_e5m2", 23), "float8e5",
)  # fmt: skip
E4M3FNUZ = Element(
    "e4m3fnuz", "float", 8, 4, _coded("e4m3fnuz"), "float8_e4m3fnuz", ("__hip_fp8_e4m3_fnuz",),
    TorchType("c10::Float8_e4m3fnuz", 26), "float8e4b8", "minus zero", 1,
)  # fmt: skip
E5M2FNUZ = Element(
    "e5m2fnuz", "float", 8, 5, _coded("e5m2fnuz"), "float8_e5m2fnuz", ("__hip_fp8_e5m2_fnuz",),
    TorchType("c10::Float8_e5m2fnuz", 25), "float8e5b16", "minus zero", 1,
)  # fmt: skip
E8M0 = Element(
    "e8m0", "power", 8, 8, _coded("e8m0"), "float8_e8m0fnu", ("__nv_fp8_e8m0",),
    TorchType("c10::Float8_e8m0fnu", 44), "", "last",
)  # fmt: skip
E2M3 = Element("e2m3", "float", 6, 2, _coded("e2m3"), "float6_e2m3fn", ("__nv_fp6_e2m3",), specials="none")
E3M2 = Element("e3m2", "float", 6, 3, _coded("e3m2"), "float6_e3m2fn", ("__nv_fp6_e3m2",), specials="none")
E2M1 = Element("e2m1", "float", 4, 2, _coded("e2m1"), "float4_e2m1fn", ("__nv_fp4_e2m1",), specials="none")

EVERY = (
    F32, F64, F16, BF16, I32, I64, U32, I16, I8, U8, BOOL, I4, U4,
    E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0, E2M3, E3M2, E2M1,
)  # fmt: skip
ELEMENTS = {one.name: one for one in EVERY}
"""The types that an array may have, by name."""
FLOATS = tuple(one for one in ELEMENTS.values() if one.is_float)
FORMATS = {one.name: one for one in sorted((*FLOATS, TF32), key=lambda one: one.is_narrow) if one.kind == "float"}
"""The formats that a number may be rounded to, by name."""
NARROW = {name: one for name, one in FORMATS.items() if one.p < F32.p}
"""The formats that are narrower than float32."""
NATIVE = {one.dtype: one for one in ELEMENTS.values() if one.is_native}
"""The types that numpy has itself, by numpy's dtype."""
BY_LIBRARY = {one.library: one for one in ELEMENTS.values()}
BY_TORCH_NUMBER = {one.torch.number: one for one in ELEMENTS.values() if one.torch}
OF_DTYPE = {one.dtype: one for one in FLOATS}
"""The float type of an array, by its dtype: uint16 holds the bits of bfloat16."""
BY_DTYPE = {one.dtype: one for one in ELEMENTS.values()}
"""The element type of an array, by its dtype."""


def element_of(name: str) -> Element:
    """The element type of this name."""
    return (ELEMENTS | FORMATS)[name]


def element_of_dtype(dtype: np.dtype[Any]) -> Element | None:
    """The element type that numpy, ml_dtypes or JAX means by a dtype."""
    named = BY_LIBRARY.get(dtype.name)
    return NATIVE.get(dtype) or (named if named and not named.is_native else None)


def values(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers that an array of floats, or of codes, holds, exactly."""
    element = OF_DTYPE.get(array.dtype) or BY_DTYPE.get(array.dtype)
    if element and element.is_narrow and not element.is_native:
        return np.asarray(element.numbers[codes_of(array) & len(element.numbers) - 1])
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        return (array if element is None else widen(array, element)).astype(np.float64)


def codes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The codes that an array of a narrow type holds."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.shape)


def store(x: NDArray[np.float64], element: Element) -> NDArray[Any]:
    """Store numbers as an array of a float type, each rounded to the nearest."""
    with np.errstate(all="ignore"):
        if element.is_native:
            return x.astype(element.dtype)
        if element.is_narrow:
            return encode(element.round(x), element)
        return narrow(element.round(x).astype(carrier_of(element).dtype), element)


def encode(x: NDArray[np.float64], element: Element) -> NDArray[Any]:
    """Numbers of a narrow type as an array of their codes; -0 is 0 where there is no -0, and NaN needs a code."""
    order = np.argsort(element.numbers, kind="stable")  # NaNs are last, and 0 comes before -0
    place = np.searchsorted(element.numbers[order], x)
    codes = order[np.minimum(place, len(order) - 1)]
    if element.is_float and element.kind != "power":
        minus = np.signbit(x) & (x == 0) & (element.specials != "minus zero")
        codes = np.where(minus, element.sign_bit, codes)
        codes = np.where(np.isnan(x), element.nan if element.nan is not None else element.infinity - 1, codes)
    return codes.astype(np.uint8).view(element.dtype).reshape(x.shape)


def carrier_of(element: Element) -> Element:
    """The numpy float with the same exponent: the upper bits of its numbers are numbers of this type."""
    return next(one for one in NATIVE.values() if one.exponent == element.exponent)


def widen(array: NDArray[Any], element: Element) -> NDArray[Any]:
    """Convert an array to a float type of numpy; a type that numpy lacks becomes its carrier."""
    if element.is_native:
        return array
    carrier = carrier_of(element)
    upper = array.astype(f"<u{carrier.bytes}") << (carrier.bits - element.bits)
    return upper.view(carrier.dtype)


def narrow(array: NDArray[Any], element: Element) -> NDArray[Any]:
    """Reverse `widen`; the lower bits are dropped."""
    if element.is_native:
        return array
    carrier = carrier_of(element)
    bits = array.view(f"<u{carrier.bytes}") >> (carrier.bits - element.bits)
    return bits.astype(element.dtype)

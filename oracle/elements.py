"""The element types of arrays, one row each: their bits, how they are stored, and what each language calls them.

Every other module looks facts up here. To add a type, add its row to `ELEMENTS`. kfuzz computes with numbers of all
formats in float64, which holds every number of the narrower formats exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Element:
    """One element type; a case, a claim and a message call it by its name.

    `bits`: of one element, including the sign. `exponent`: how many bits are the exponent; 0 in an integer.
    `dtype`: how numpy stores it. `library`: its name in numpy, ml_dtypes, torch and JAX. `c_types`: its names in CUDA;
    kfuzz writes the first, and reads them all. `torch`: None where torch's C++ has no such type.
    """

    name: str
    kind: Literal["float", "signed", "unsigned"]
    bits: int
    exponent: int
    dtype: np.dtype[Any]
    library: str
    c_types: tuple[str, ...]
    torch: TorchType | None

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], "Element"], tuple[str]]:
        """Pickle only the name: a row is then the same object in every process."""
        return element_of, (self.name,)

    @property
    def is_float(self) -> bool:
        """Whether it is a float and not an integer."""
        return self.kind == "float"

    @property
    def is_native(self) -> bool:
        """Whether numpy computes with it; another type is stored as its bits."""
        return self.dtype.name == self.library

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

    # Floats: a sign, the exponent, and a fraction, as IEEE 754 has them.

    @property
    def p(self) -> int:
        """Significant bits, including the hidden one."""
        return self.bits - self.exponent

    @property
    def bias(self) -> int:
        """What is added to an exponent before it is stored."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def least(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def sign_bit(self) -> int:
        """The bits of -0."""
        return 1 << (self.bits - 1)

    @property
    def one(self) -> int:
        """The bits of 1."""
        return self.bias << (self.p - 1)

    @property
    def infinity(self) -> int:
        """The bits of infinity; greater bit patterns are NaNs."""
        return ((1 << self.exponent) - 1) << (self.p - 1)

    @property
    def nan(self) -> int:
        """The bits of the quiet NaN without a payload."""
        return self.infinity | 1 << (self.p - 2)

    @property
    def u(self) -> float:
        """The largest relative error of one correct rounding."""
        return 2.0**-self.p

    @property
    def min_normal(self) -> float:
        """The smallest normal number."""
        return 2.0**self.least

    @property
    def tiny(self) -> float:
        """The largest error of one correct rounding among the denormals: half of the smallest one."""
        return max(2.0 ** (self.least - self.p), 5e-324)

    @property
    def max(self) -> float:
        """The largest finite number."""
        return float((2 - 2.0 ** (1 - self.p)) * 2.0**self.bias)

    def round(self, x: Reals) -> Reals:
        """Round to the nearest, ties to even. A sum that float64 has already rounded is rounded twice."""
        with np.errstate(all="ignore"):
            if self.is_native:
                return x.astype(self.dtype).astype(x.dtype)
            step = self._steps(x)
            y = np.ldexp(np.rint(np.ldexp(x, -step)), step)
            y = np.where(np.abs(y) > self.max, np.copysign(np.inf, x), y)
            return np.where(np.isfinite(x), y, x)

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


F32 = Element("f32", "float", 32, 8, np.dtype(np.float32), "float32", ("float",), TorchType("float", 6))
F64 = Element("f64", "float", 64, 11, np.dtype(np.float64), "float64", ("double",), TorchType("double", 7))
F16 = Element("f16", "float", 16, 5, np.dtype(np.float16), "float16", ("__half", "half"), TorchType("c10::Half", 5))
BF16 = Element(
    "bf16", "float", 16, 8, np.dtype(np.uint16), "bfloat16", ("__nv_bfloat16",), TorchType("c10::BFloat16", 15)
)
I32 = Element("i32", "signed", 32, 0, np.dtype(np.int32), "int32", ("int", "int32_t"), TorchType("int", 3))
I64 = Element("i64", "signed", 64, 0, np.dtype(np.int64), "int64", ("int64_t", "long"), TorchType("int64_t", 4))
U32 = Element("u32", "unsigned", 32, 0, np.dtype(np.uint32), "uint32", ("unsigned", "uint32_t"), None)
TF32 = Element("tf32", "float", 19, 8, np.dtype(np.float32), "tf32", ("wmma::precision::tf32",), None)
"""The part of a float32 that tensor cores read; it is not the type of any array."""

ELEMENTS = {one.name: one for one in (F32, F64, F16, BF16, I32, I64, U32)}
"""The types that an array may have, by name."""
FLOATS = tuple(one for one in ELEMENTS.values() if one.is_float)
FORMATS = {one.name: one for one in (*FLOATS, TF32)}
"""The formats that a number may be rounded to, by name."""
NARROW = {name: one for name, one in FORMATS.items() if one.p < F32.p}
"""The formats that are narrower than float32."""
NATIVE = {one.dtype: one for one in ELEMENTS.values() if one.is_native}
"""The types that numpy has itself, by numpy's dtype."""
BY_LIBRARY = {one.library: one for one in ELEMENTS.values()}
BY_TORCH_NUMBER = {one.torch.number: one for one in ELEMENTS.values() if one.torch}
OF_DTYPE = {one.dtype: one for one in FLOATS}
"""The float type of an array, by its dtype: uint16 holds the bits of bfloat16."""


def element_of(name: str) -> Element:
    """The element type of this name."""
    return (ELEMENTS | FORMATS)[name]


def element_of_dtype(dtype: np.dtype[Any]) -> Element | None:
    """The element type that numpy, ml_dtypes or JAX means by a dtype."""
    named = BY_LIBRARY.get(dtype.name)
    return NATIVE.get(dtype) or (named if named and not named.is_native else None)


def values(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers that an array of floats holds, exactly."""
    element = OF_DTYPE.get(array.dtype)
    return (array if element is None else widen(array, element)).astype(np.float64)


def store(x: NDArray[np.float64], element: Element) -> NDArray[Any]:
    """Store numbers as an array of a float type, each rounded to the nearest."""
    with np.errstate(all="ignore"):
        if element.is_native:
            return x.astype(element.dtype)
        return narrow(element.round(x).astype(carrier_of(element).dtype), element)


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

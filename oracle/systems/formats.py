"""The float formats that kernels compute and store in, as data, and rounding to them.

Everything is held in float64, which holds every number of the narrower formats exactly. Knows no claim and no op.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[Any]
"""float64 or longdouble numbers, which numpy cannot tell apart in a type."""

BF16 = np.dtype(np.uint16)
"""How an array of bfloat16 travels: numpy has no such type, so it is its bits."""


@dataclass(frozen=True)
class Format:
    """A binary format: `p` significant bits, the hidden one included; exponents from `least` to `most`."""

    name: str
    p: int
    least: int
    most: int

    @property
    def u(self) -> float:
        """The largest relative error of one correct rounding."""
        return 2.0**-self.p

    @property
    def min_normal(self) -> float:
        return 2.0**self.least

    @property
    def tiny(self) -> float:
        """The largest error of one correct rounding among the denormals: half of the least one."""
        return max(2.0 ** (self.least - self.p), 5e-324)

    @property
    def max(self) -> float:
        return float((2 - 2.0 ** (1 - self.p)) * 2.0**self.most)

    def rounded(self, x: Reals) -> Reals:
        """To the nearest, ties to even. Exact for what float64 holds; a sum rounded before is rounded twice."""
        with np.errstate(all="ignore"):
            if self.name == "f64":
                return x.astype(np.float64).astype(x.dtype)
            if self.name == "f32":
                return x.astype(np.float32).astype(x.dtype)
            if self.name == "f16":
                return x.astype(np.float16).astype(x.dtype)
            step = self._steps(x)
            y = np.ldexp(np.rint(np.ldexp(x, -step)), step)
            y = np.where(np.abs(y) > self.max, np.copysign(np.inf, x), y)
            return np.where(np.isfinite(x), y, x)

    def cut(self, x: Reals) -> Reals:
        """Toward zero: what a multiplier sees that drops the last bits."""
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

    def flushed(self, x: Reals) -> Reals:
        """Denormals as zeros of their sign."""
        return np.where(np.abs(x) < self.min_normal, np.copysign(0.0, x), x)


F64 = Format("f64", 53, -1022, 1023)
F32 = Format("f32", 24, -126, 127)
F16 = Format("f16", 11, -14, 15)
BFLOAT16 = Format("bf16", 8, -126, 127)
TF32 = Format("tf32", 11, -126, 127)
HELD = {"f64": F64, "f16": F16, "bf16": BFLOAT16}
"""What sums are held in where a claim says so and it is not what is computed in."""
FORMATS = {form.name: form for form in (F64, F32, F16, BFLOAT16, TF32)}

DTYPES = {np.dtype(np.float64): F64, np.dtype(np.float32): F32, np.dtype(np.float16): F16, BF16: BFLOAT16}
"""The format of an array by its type."""


def values(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers that an array of any of the formats holds, exactly."""
    if array.dtype == BF16:
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def stored(x: NDArray[np.float64], form: Format) -> NDArray[Any]:
    """Numbers as an array of a format: each rounded to the nearest."""
    with np.errstate(all="ignore"):
        if form is BFLOAT16:
            bits = form.rounded(x).astype(np.float32).view(np.uint32)
            return (bits >> np.uint32(16)).astype(np.uint16)
        return x.astype({"f64": np.float64, "f32": np.float32, "f16": np.float16}[form.name])

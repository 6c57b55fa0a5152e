"""The number systems for every algorithm: mpmath, arb balls, float64, simulated float32.

A system's numbers are elements of numpy arrays; its arithmetic is its methods, because in float32 with flushed
denormals the hardware does not compute `a + b`. This module knows no algorithm.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import mpmath
import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Divide
from kfuzz.oracle.numbers.elements import F32, F64

Vector = NDArray[Any]
"""Numbers of one system: float32, float64, or objects (mpf, arb), which numpy cannot type."""

MIN_NORMAL = F32.min_normal
"""The smallest normal float32; the denormals are below it."""


class Number(Protocol):
    """One number system. `acc` is the system for sums, `settle` rounds a sum back."""

    @property
    def acc(self) -> "Number": ...
    def embed(self, x: Vector) -> Vector: ...
    def settle(self, total: Vector) -> Vector: ...
    def add(self, a: Vector, b: Vector) -> Vector: ...
    def sub(self, a: Vector, b: Vector) -> Vector: ...
    def mul(self, a: Vector, b: Vector) -> Vector: ...
    def div(self, a: Vector, b: Vector) -> Vector: ...
    def exp(self, x: Vector) -> Vector: ...
    def maximum(self, a: Vector, b: Vector) -> Vector: ...
    @property
    def compensated(self) -> bool: ...


class Ordinary:
    """The common part of the systems whose numbers have + - * / of their own."""

    compensated = False

    def settle(self, total: Vector) -> Vector:
        return total

    def add(self, a: Vector, b: Vector) -> Vector:
        return np.asarray(a + b)

    def sub(self, a: Vector, b: Vector) -> Vector:
        return np.asarray(a - b)

    def mul(self, a: Vector, b: Vector) -> Vector:
        return np.asarray(a * b)

    def div(self, a: Vector, b: Vector) -> Vector:
        return np.asarray(a / b)

    def maximum(self, a: Vector, b: Vector) -> Vector:
        return np.where((a >= b) | (a != a), a, b)  # noqa: PLR0124  a NaN on either side wins


class Mpmath(Ordinary):
    """mpmath at any precision: the slow, independent second opinion."""

    def __init__(self, bits: int = 200) -> None:
        self.context = mpmath.MPContext()
        self.context.prec = bits
        self._of = np.frompyfunc(self.context.mpf, 1, 1)
        self._exp = np.frompyfunc(self.context.exp, 1, 1)

    @property
    def acc(self) -> Number:
        return self

    def embed(self, x: Vector) -> Vector:
        with np.errstate(invalid="ignore"):  # numpy warns of a NaN on its way into an mpf
            return np.asarray(self._of(np.asarray(x, dtype=np.float64).astype(object)), dtype=object)

    def exp(self, x: Vector) -> Vector:
        return np.asarray(self._exp(x), dtype=object)

    def div(self, a: Vector, b: Vector) -> Vector:
        return np.asarray(np.frompyfunc(_divide_or_nan, 2, 1)(a, b), dtype=object)


def _divide_or_nan(a: Any, b: Any) -> Any:  # noqa: ANN401  mpf has no static type
    """a / b, where 0 / 0 is NaN: mpmath raises on a zero denominator."""
    return a / b if b != 0 else a * mpmath.nan


class Balls(Ordinary):
    """arb: every number is a ball that certainly contains the exact one."""

    def __init__(self, bits: int = 128) -> None:
        self.bits = bits
        self._exp = np.frompyfunc(arb.exp, 1, 1)
        self._max = np.frompyfunc(arb.max, 2, 1)

    @property
    def acc(self) -> Number:
        return self

    def embed(self, x: Vector) -> Vector:
        return np.asarray(np.frompyfunc(arb, 1, 1)(np.asarray(x, dtype=np.float64).astype(object)), object)

    def _at_precision(self, operation: Callable[..., Vector], *operands: Vector) -> Vector:
        with ctx.workprec(self.bits):
            return np.asarray(operation(*operands), dtype=object)

    def add(self, a: Vector, b: Vector) -> Vector:
        return self._at_precision(np.add, a, b)

    def sub(self, a: Vector, b: Vector) -> Vector:
        return self._at_precision(np.subtract, a, b)

    def mul(self, a: Vector, b: Vector) -> Vector:
        return self._at_precision(np.multiply, a, b)

    def div(self, a: Vector, b: Vector) -> Vector:
        return self._at_precision(np.true_divide, a, b)

    def exp(self, x: Vector) -> Vector:
        return self._at_precision(self._exp, x)

    def maximum(self, a: Vector, b: Vector) -> Vector:
        return self._at_precision(self._max, a, b)


class Float64(Ordinary):
    """IEEE double precision."""

    @property
    def acc(self) -> Number:
        return self

    def embed(self, x: Vector) -> Vector:
        return np.asarray(x, dtype=np.float64)

    def exp(self, x: Vector) -> Vector:
        return np.asarray(np.exp(x))


ExpNoise = Literal["rounded", "ulp2", "high2", "ends2", "ex2", "documented", "growing"]


@dataclass(frozen=True)
class Float32:
    """float32 as a GPU computes it, with an exp whose error is as large as its model allows.

    `exp_noise`: "rounded" correctly; "ulp2": up to 2 ulp from that, evenly; "high2": always 2 above;
    "ends2": always 2 above or below; "ex2": ex2.approx of fl(t log2 e), off by 2^-22.5 either way;
    "documented": `__expf`'s 2 + floor(1.173 |t|) ulp, either way, constant below t = -104 (docs/numerics.md#a4);
    "growing": it keeps growing there, which no enclosure here allows: it shows that the assumption is needed.
    """

    exp_noise: ExpNoise = "rounded"
    ftz: bool = False
    divide: Divide = "ieee"
    accumulate: str = F32.name
    seed: int = 0
    _noise: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_noise", np.random.default_rng(self.seed))

    @property
    def compensated(self) -> bool:
        return self.accumulate == "compensated"

    @cached_property
    def acc(self) -> Number:
        return Float64() if self.accumulate == F64.name else self

    def settle(self, total: Vector) -> Vector:
        return self._flush(np.asarray(total, dtype=np.float32))

    def embed(self, x: Vector) -> Vector:
        return np.asarray(x, dtype=np.float32)

    def _flush(self, x: Vector) -> Vector:
        if not self.ftz:
            return x
        return np.where(np.abs(x) < np.float32(MIN_NORMAL), np.copysign(np.float32(0), x), x)

    def _rounded(self, operation: np.ufunc, a: Vector, b: Vector) -> Vector:
        return self._flush(np.asarray(operation(self._flush(a), self._flush(b)), dtype=np.float32))

    def add(self, a: Vector, b: Vector) -> Vector:
        return self._rounded(np.add, a, b)

    def sub(self, a: Vector, b: Vector) -> Vector:
        return self._rounded(np.subtract, a, b)

    def mul(self, a: Vector, b: Vector) -> Vector:
        return self._rounded(np.multiply, a, b)

    def maximum(self, a: Vector, b: Vector) -> Vector:
        return self._flush(np.fmax(a, b))

    def div(self, a: Vector, b: Vector) -> Vector:
        if self.divide == "ieee":
            return self._rounded(np.divide, a, b)
        if self.divide == "reciprocal":
            return self.mul(a, self._rounded(np.divide, np.ones_like(b), b))
        if self.divide == "fast reciprocal":
            return self.mul(a, self._fast_divide(np.ones_like(b), b))
        return self._fast_divide(a, b)

    def _fast_divide(self, a: Vector, b: Vector) -> Vector:
        quotient = self._rounded(np.divide, a, b)
        moved = self._moved(quotient, self._noise.integers(-2, 3, quotient.shape))
        return self._flush(np.where(a == 0, quotient, moved))  # 0 / s is 0 for every division tested on an H200

    def exp(self, x: Vector) -> Vector:
        t = self._flush(x)
        exact = (t == 0) | np.isneginf(t)  # docs/numerics.md#a3
        if self.exp_noise == "ex2":
            scaled = np.asarray(t * np.float32(1.44269502), dtype=np.float32)
            error = self._noise.choice(np.array([-1.0, 1.0]), t.shape) * 2.0**-22.5
            y = np.asarray(np.exp2(scaled.astype(np.float64)) * (1 + error), dtype=np.float32)
        else:
            y = np.asarray(np.exp(t.astype(np.float64)), dtype=np.float32)
            y = self._moved(y, self._ulps(t))
        return self._flush(np.where(exact, np.where(t == 0, np.float32(1), np.float32(0)), y))

    def exp2(self, x: Vector) -> Vector:
        """2^x, with the same errors, ex2.approx's included."""
        t = self._flush(x)
        right = np.exp2(t.astype(np.float64))
        if self.exp_noise == "ex2":
            y = np.asarray(right * (1 + self._noise.choice(np.array([-1.0, 1.0]), t.shape) * 2.0**-22.5), np.float32)
        else:
            y = self._moved(np.asarray(right, dtype=np.float32), self._ulps(t * np.float32(np.log(2))))
        return self._flush(np.where(t == 0, np.float32(1), np.where(np.isneginf(t), np.float32(0), y)))

    def fma(self, a: Vector, b: Vector, c: Vector) -> Vector:
        """a b + c, rounded once: the product is exact in double, and rounding the sum twice moves 2^-29 of a unit."""
        a, b, c = (self._flush(value).astype(np.float64) for value in (a, b, c))
        return self._flush(np.asarray(a * b + c, dtype=np.float32))

    def _ulps(self, t: Vector) -> Vector:
        match self.exp_noise:
            case "ulp2":
                return np.asarray(self._noise.integers(-2, 3, t.shape))
            case "high2":
                return np.full(t.shape, 2)
            case "ends2":
                return self._noise.choice(np.array([-2, 2]), t.shape)
            case "documented" | "growing":
                reach = np.minimum(np.abs(t.astype(np.float64)), 104 if self.exp_noise == "documented" else 2**20)
                far = 2 + np.floor(1.173 * reach)
                return np.asarray((far * self._noise.choice(np.array([-1, 1]), t.shape)).astype(np.int64))
            case _:
                return np.zeros(t.shape, dtype=np.int64)

    @staticmethod
    def _moved(y: Vector, ulps: Vector) -> Vector:
        """y, which is not negative, moved by this many units in the last place, but not below 0."""
        bits = np.asarray(y, dtype=np.float32).view(np.int32).astype(np.int64)
        moved = np.clip(bits + ulps, 0, 0x7F7FFFFF)
        return np.where(np.isfinite(y), moved.astype(np.int32).view(np.float32), y)

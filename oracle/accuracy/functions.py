"""The functions of one number, or two, that a formula may ask for, one row each: how they run, and their errors.

Knows numpy, balls and mpmath; no claim and no rule. The errors are those that the CUDA programming guide documents: k
ulp from the correctly rounded result are 2 k + 1 units of u.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from flint import arb

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.enclosure import ROUND_64

INF, NAN = math.inf, math.nan
Course = Literal["rising", "falling", "step", "wave"]


@dataclass(frozen=True)
class FunctionOfOne:
    """One function.

    `doubles`: of doubles and long doubles; `ball`: of a finite ball inside the domain; `digits`: of mpmath's context
    and a finite number inside the domain. `ulp`: the documented error of the accurate CUDA function; a step has none.
    `least`, `most`: no kernel's answer is beyond. `at_ends`: the limits at -inf and at +inf; NaN if there is none.
    `start`: the function is NaN below; `at_start`: its value there. `crest`: where a wave is 1, in units of pi; its
    period is 2 pi.
    """

    name: str
    doubles: Callable[[Reals], Reals]
    ball: Callable[[arb], arb]
    digits: Callable[[Any, Any], Any]
    ulp: float
    at_ends: tuple[float, float]
    course: Course = "rising"
    least: float = -INF
    most: float = INF
    start: float = -INF
    at_start: float = NAN
    crest: float = NAN

    @property
    def units(self) -> float:
        """The documented error in units of u."""
        return 2 * self.ulp + 1

    def of_special(self, x: float) -> float | None:
        """The value at an infinity, at NaN, and at or below the start of the domain; None elsewhere."""
        if math.isnan(x) or x < self.start:
            return NAN
        if math.isinf(x):
            return self.at_ends[x > 0]
        return self.at_start if x == self.start else None

    def of_ball(self, x: arb) -> arb:
        """The function of an exact ball, or of an infinity."""
        if x.is_nan():
            return x
        if not x.is_finite() or x <= self.start:
            special = self.of_special(INF if x > 0 and not x.is_finite() else float(x))
            return self.ball(x) if special is None else arb(special)
        return self.ball(x)

    def of_mpf(self, context: Any, x: Any) -> Any:  # noqa: ANN401  mpmath has no static types
        """The function of a number of mpmath's."""
        if context.isfinite(x) and x > self.start:
            return self.digits(context, x)
        special = self.of_special(float(x))
        return self.digits(context, x) if special is None else context.mpf(special)


def _vectorized(function: Callable[[float], float]) -> Callable[[Reals], Reals]:
    """A function of single numbers for arrays: by a list, in two thirds of the time of a ufunc of objects."""

    def of_array(x: Reals) -> Reals:
        numbers = np.asarray(x, dtype=np.float64)
        return np.fromiter(map(function, numbers.ravel().tolist()), np.float64, numbers.size).reshape(numbers.shape)

    return of_array


ERF, ERFC = _vectorized(math.erf), _vectorized(math.erfc)


def _nearest_of_ball(x: arb) -> arb:
    """The nearest integer, the even one at a tie: x is exact."""
    below = x.floor()
    off = x - below - arb("0.5")
    is_up = off > 0 or (off == 0 and not (below / 2).is_integer())
    return below + 1 if is_up else below


ROWS = (
    FunctionOfOne("exp", np.exp, arb.exp, lambda c, x: c.exp(x), 2, (0, INF), least=0),
    FunctionOfOne("exp2", np.exp2, lambda x: arb(2) ** x, lambda c, x: c.power(2, x), 2, (0, INF), least=0),
    FunctionOfOne("expm1", np.expm1, arb.expm1, lambda c, x: c.expm1(x), 1, (-1, INF), least=-1),
    FunctionOfOne("log", np.log, arb.log, lambda c, x: c.log(x), 1, (NAN, INF), start=0, at_start=-INF),
    FunctionOfOne(
        "log2", np.log2, lambda x: x.log_base(2), lambda c, x: c.log(x, 2), 1, (NAN, INF), start=0, at_start=-INF
    ),
    FunctionOfOne(
        "log10", np.log10, lambda x: x.log_base(10), lambda c, x: c.log(x, 10), 2, (NAN, INF), start=0, at_start=-INF
    ),
    FunctionOfOne("log1p", np.log1p, arb.log1p, lambda c, x: c.log1p(x), 1, (NAN, INF), start=-1, at_start=-INF),
    FunctionOfOne("sqrt", np.sqrt, arb.sqrt, lambda c, x: c.sqrt(x), 1, (NAN, INF), least=0, start=0, at_start=0),
    FunctionOfOne(
        "rsqrt", lambda x: 1 / np.sqrt(x), arb.rsqrt, lambda c, x: 1 / c.sqrt(x), 2, (NAN, 0),
        course="falling", least=0, start=0, at_start=INF,
    ),
    FunctionOfOne("tanh", np.tanh, arb.tanh, lambda c, x: c.tanh(x), 2, (-1, 1), least=-1, most=1),
    FunctionOfOne("erf", ERF, arb.erf, lambda c, x: c.erf(x), 2, (-1, 1), least=-1, most=1),
    FunctionOfOne("erfc", ERFC, arb.erfc, lambda c, x: c.erfc(x), 4, (2, 0), course="falling", least=0),
    FunctionOfOne("sin", np.sin, arb.sin, lambda c, x: c.sin(x), 2, (NAN, NAN), course="wave", crest=0.5),
    FunctionOfOne("cos", np.cos, arb.cos, lambda c, x: c.cos(x), 2, (NAN, NAN), course="wave", crest=0.0),
    FunctionOfOne("floor", np.floor, arb.floor, lambda c, x: c.floor(x), 0, (-INF, INF), course="step"),
    FunctionOfOne("ceil", np.ceil, arb.ceil, lambda c, x: c.ceil(x), 0, (-INF, INF), course="step"),
    FunctionOfOne(
        "trunc", np.trunc, lambda x: x.ceil() if x < 0 else x.floor(),
        lambda c, x: c.ceil(x) if x < 0 else c.floor(x), 0, (-INF, INF), course="step",
    ),
    FunctionOfOne("rint", np.rint, _nearest_of_ball, lambda c, x: c.nint(x), 0, (-INF, INF), course="step"),
    FunctionOfOne("sign", np.sign, arb.sgn, lambda c, x: c.sign(x), 0, (-1, 1), course="step"),
)  # fmt: skip
FUNCTIONS = {row.name: row for row in ROWS}
"""By the word of a formula. `rint` is to the nearest integer, and to the even one at a tie, as in numpy and torch."""


@dataclass(frozen=True)
class FunctionOfTwo:
    """A function of two numbers: `ball` and `digits` where both are finite and not 0, `doubles` also elsewhere."""

    name: str
    doubles: Callable[[Reals, Reals], Reals]
    ball: Callable[[arb, arb], arb]
    digits: Callable[[Any, Any, Any], Any]
    ulp: float

    @property
    def units(self) -> float:
        """The documented error in units of u."""
        return 2 * self.ulp + 1

    def of_balls(self, a: arb, b: arb) -> arb:
        """The function of two exact balls."""
        if all(x.is_finite() and x != 0 for x in (a, b)):
            return self.ball(a, b)
        special = float(self._of_special(float(a), float(b)))
        return arb(special, abs(special) * ROUND_64) if math.isfinite(special) else arb(special)

    def of_mpf(self, context: Any, a: Any, b: Any) -> Any:  # noqa: ANN401  mpmath has no static types
        """The function of two numbers of mpmath's."""
        if all(context.isfinite(x) and x != 0 for x in (a, b)):
            return self.digits(context, a, b)
        return context.mpf(self._of_special(float(a), float(b)))

    def _of_special(self, a: float, b: float) -> float:
        with np.errstate(all="ignore"):
            return float(self.doubles(np.asarray(a), np.asarray(b)))


def _power_of_ball(a: arb, b: arb) -> arb:
    if a > 0:
        return a**b
    if not b.is_integer():
        return arb(NAN)
    size = (-a) ** b
    return size if (b / 2).is_integer() else -size


def _power_of_mpf(context: Any, a: Any, b: Any) -> Any:  # noqa: ANN401  mpmath has no static types
    return context.power(a, b) if a > 0 or context.isint(b) else context.nan


OF_TWO = {
    row.name: row
    for row in (
        FunctionOfTwo("pow", np.power, _power_of_ball, _power_of_mpf, 9),
        FunctionOfTwo("atan2", np.arctan2, arb.atan2, lambda c, a, b: c.atan2(a, b), 3),
    )
}
"""powf is documented with 9 ulp in older guides and with 4 in newer ones."""

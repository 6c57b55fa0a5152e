"""The arithmetic of an enclosure's ends, which errs only outward.

There are two kinds: numpy's floats, where every result is pushed outward by more than its error, are fast; arb's balls,
of which the outer end is taken, are certain. kfuzz trusts numpy's exp, log, ... to 2^-49 (float64) or 2^-59
(longdouble). Long, since both kinds have every operation.
"""

import math
import warnings
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any, Protocol

import numpy as np
from flint import arb, ctx

from kfuzz.oracle.accuracy.functions import FUNCTIONS, OF_TWO, FunctionOfOne
from kfuzz.oracle.numbers.elements import F64, Element, Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems.room import BALL_SUM, LONG_ERF, PHASE_DOUBT

Pair = tuple[Reals, Reals]


class Endpoints(Protocol):
    """The operations that bands need on their ends."""

    @property
    def eps(self) -> float: ...
    def convert(self, x: Reals) -> Reals: ...
    def push_outward(self, lo: Reals, hi: Reals) -> Pair: ...
    def two_sum(self, a: Reals, b: Reals) -> Pair: ...
    def function(self, name: str, lo: Reals, hi: Reals) -> Pair: ...
    def of_two(self, name: str, a: Reals, b: Reals) -> Pair: ...
    def hull(self, lo: Reals, hi: Reals, form: Element) -> Pair: ...
    def round_ends(self, lo: Reals, hi: Reals, form: Element) -> Pair: ...
    def is_nan(self, x: Reals) -> Reals: ...
    def is_finite(self, x: Reals) -> Reals: ...
    def total(self, lo: Reals, hi: Reals, axis: int) -> Pair: ...
    def running_sums(self, lo: Reals, hi: Reals) -> Pair: ...
    def product(self, a: Reals, b: Reals) -> tuple[Reals, Reals]: ...
    def exp_above(self, exponent: Reals | float) -> Reals: ...
    def with_room(self, size: Reals | float) -> Reals | float: ...


KNOWN_POWER = arb(2) ** 100
"""An exponent whose power of e arb knows; at 2^300 it gives 0 +- infinity."""
SUM_DEPTH = 80
"""docs/numerics.md#room: no term of `sum_pairwise` takes part in more additions, for up to 2^30 terms."""


def sum_pairwise(x: Reals, axis: int = -1) -> Reals:
    """The sum along an axis, which stays with one element, added pairwise (docs/numerics.md#room).

    numpy adds pairwise only along a contiguous axis. Along another it adds in sequence, and the sum of 100,000 terms of
    0.1 is wrong by 2^-38.9.
    """
    last = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    return np.moveaxis(last.sum(axis=-1, keepdims=True), -1, axis)


class FloatEnds:
    """Endpoints in float64 or longdouble."""

    def __init__(self, dtype: type[np.floating[Any]] = np.float64) -> None:
        self.dtype = dtype
        self.eps = float(np.finfo(dtype).eps)
        """2^-52 for float64: twice the error of one operation."""

    def convert(self, x: Reals) -> Reals:
        return np.asarray(x, dtype=self.dtype)

    def push_outward(self, lo: Reals, hi: Reals) -> Pair:
        """Move each end outward by one unit in the last place; zeros and infinities stay."""
        e = self.dtype(self.eps)  # in the ends' own type: in doubles, 1 + 2^-63 would be 1
        if lo.size and lo.min() >= 0:
            return lo * (1 - e), hi * (1 + e)
        below, above = np.asarray(np.copysign(e, lo)), np.asarray(np.copysign(e, hi))
        np.subtract(1, below, out=below)
        np.add(1, above, out=above)
        below *= lo
        above *= hi
        return below, above

    def two_sum(self, a: Reals, b: Reals) -> Pair:
        """Add two known numbers and push the sum outward only where it was rounded (Knuth's two-sum).

        So a tie between two float32 numbers stays a tie.
        """
        s = np.asarray(a + b)
        back = s - a
        if all_of(back == b) and all_of(s - back == a):
            return s, s
        is_exact = ((a - (s - back)) + (b - back) == 0) | ~np.isfinite(s)
        lo, hi = self.push_outward(s, s)
        return np.where(is_exact, s, lo), np.where(is_exact, s, hi)

    def function(self, name: str, lo: Reals, hi: Reals) -> Pair:
        """The least and the greatest value of a function between two ends, outward."""
        row = FUNCTIONS[name]
        if row.course == "step":
            return row.doubles(lo), row.doubles(hi)
        if self.dtype is not np.float64 and name in ("erf", "erfc"):
            return _erf_of_long(name, lo, hi)
        if row.course == "wave":
            return self._wave(row, lo, hi)
        if row.course == "falling":
            lo, hi = hi, lo
        below = row.doubles(lo)
        e = self.dtype(8 * self.eps)
        if row.least == 0:
            above = row.doubles(hi) * (1 + e) if hi is not lo else below * (1 + e)
            below *= 1 - e
            return below, above
        return self._outward(below)[0], self._outward(row.doubles(hi) if hi is not lo else below)[1]

    def _wave(self, row: FunctionOfOne, lo: Reals, hi: Reals) -> Pair:
        """A sine: the values at both ends, and 1 or -1 wherever a crest or a trough may lie between them."""
        first, last = self._outward(row.doubles(lo)), self._outward(row.doubles(hi))
        below, above = np.minimum(first[0], last[0]), np.maximum(first[1], last[1])
        has_crest, has_trough = (_may_pass(lo, hi, (row.crest + half) * math.pi) for half in (0, 1))
        return np.where(has_trough, -1.0, below), np.where(has_crest, 1.0, above)

    def _outward(self, x: Reals) -> Pair:
        """Cover the error of one of numpy's functions."""
        e = self.dtype(8 * self.eps)
        return x * (1 - np.copysign(e, x)), x * (1 + np.copysign(e, x))

    def of_two(self, name: str, a: Reals, b: Reals) -> Pair:
        """A function of two known numbers, outward."""
        return self._outward(OF_TWO[name].doubles(a, b))

    def hull(self, lo: Reals, hi: Reals, form: Element) -> Pair:
        """For each end, the outer one of itself and its rounded value."""
        below = np.asarray(form.round(lo))
        above = np.maximum(hi, below if hi is lo else form.round(hi))
        return np.minimum(lo, below, out=below), above

    def round_ends(self, lo: Reals, hi: Reals, form: Element) -> Pair:
        """Round the ends to a format."""
        below = form.round(lo)
        return below, below if hi is lo else form.round(hi)

    def is_nan(self, x: Reals) -> Reals:
        return np.isnan(x)

    def is_finite(self, x: Reals) -> Reals:
        return np.isfinite(x)

    def total(self, lo: Reals, hi: Reals, axis: int) -> Pair:
        """The sums of both ends along an axis, which stays with one element."""
        err = self.eps * min(max(lo.shape[axis] - 1, 0), SUM_DEPTH)  # one term is not added to anything
        size = sum_pairwise(np.maximum(np.abs(lo), np.abs(hi)), axis) * err
        below, above = sum_pairwise(lo, axis), sum_pairwise(hi, axis)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(size), below - size, below), np.where(np.isfinite(size), above + size, above)

    def running_sums(self, lo: Reals, hi: Reals) -> Pair:
        """The running sums of both ends along the last axis."""
        n = lo.shape[-1]
        size = np.cumsum(np.maximum(np.abs(lo), np.abs(hi)), axis=-1) * (self.eps * n)
        return np.cumsum(lo, axis=-1) - size, np.cumsum(hi, axis=-1) + size

    def product(self, a: Reals, b: Reals) -> tuple[Reals, Reals]:
        """A product of matrices, and its error relative to |a| |b|."""
        return a @ b, np.asarray(self.eps * (a.shape[-1] + 2))

    def exp_above(self, exponent: Reals | float) -> Reals:
        """An upper bound of e^exponent."""
        power = np.asarray(exponent, dtype=self.dtype)
        above = np.asarray(np.exp(power) * (1 + self.dtype(16 * self.eps)))
        return np.where(power == 0, self.dtype(1), above) if any_of(power == 0) else above

    def with_room(self, size: Reals | float) -> Reals | float:
        """A size that a few operations made, and that is added to an end: more than it by what rounds it, or the end.

        In the ends' own type: in doubles, 1 + 2^-60 would be 1.
        """
        return np.asarray(size * (1 + self.dtype(16 * self.eps)))


def _as_long(ball: arb, is_upper: bool) -> np.longdouble:
    """The middle of a ball; of one nearer to 0 than any long double, the end that lies outwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy calls it an overflow
        made = np.longdouble(ball.str(30, radius=False))
    if made == 0 and (ball > 0 if is_upper else ball < 0):
        return np.finfo(np.longdouble).smallest_subnormal * (1 if is_upper else -1)
    return made


def _erf_of_long(name: str, lo: Reals, hi: Reals) -> Pair:
    """Compute erf or erfc of long doubles by arb: numpy has neither, and the C library's is for doubles."""
    balls = BallEnds()
    with ctx.workprec(100):
        below, above = balls.function(name, balls.convert(lo), balls.convert(hi))
    below = np.asarray([_as_long(v, is_upper=False) for v in below.ravel()])
    above = np.asarray([_as_long(v, is_upper=True) for v in above.ravel()])
    e = LONG_ERF
    below, above = below.reshape(lo.shape), above.reshape(hi.shape)
    return below - np.abs(below) * e, above + np.abs(above) * e


def _may_pass(lo: Reals, hi: Reals, place: float) -> Reals:
    """Whether place + 2 pi k may lie between two ends, for a whole k; the doubt of float64 counts as yes."""
    start, stop = ((x - place) / (2 * math.pi) for x in (lo, hi))
    start, stop = start - PHASE_DOUBT * (1 + np.abs(start)), stop + PHASE_DOUBT * (1 + np.abs(stop))
    return np.asarray((lo < hi) & ~(np.ceil(start) > np.floor(stop)), dtype=np.bool_)


def _each(function: Callable[..., Any], inputs: int = 1) -> Callable[..., Reals]:
    ufunc = np.frompyfunc(function, inputs, 1)
    return lambda *x: np.asarray(ufunc(*x), dtype=object)


def _each_call(method: str) -> Callable[..., Reals]:
    """Call a method of each ball of an array."""
    of_balls = _each(methodcaller(method))
    of_any = _each(lambda x: getattr(as_ball(x), method)())

    def each(x: object) -> Reals:
        try:
            return of_balls(x)
        except AttributeError:  # an element is a plain float
            return of_any(x)

    return each


def _ball(x: float) -> arb:
    if isinstance(x, np.longdouble):
        if not np.isfinite(x):
            return arb(float(x))
        part, power = np.frexp(x)  # a double has not all bits of a long double below its own least one
        high = float(part)
        return (arb(high) + arb(float(part - np.longdouble(high)))) * arb(2) ** int(power)
    return arb(float(x))


def _below(x: arb | float) -> float:
    """The greatest double that is not above x."""
    x = as_ball(x)
    near = float(x)
    return near if math.isnan(near) or not arb(near) > x else math.nextafter(near, -math.inf)


def _above(x: arb | float) -> float:
    return -_below(-as_ball(x))


def as_ball(x: arb | float) -> arb:
    """The ball of a number: an array of objects may hold plain floats, too."""
    return x if isinstance(x, arb) else _ball(x)


def _cut_power(x: arb | float) -> arb:
    """An exponent that is not above a given one, and whose power of e arb knows."""
    ball = as_ball(x)
    return KNOWN_POWER if ball > KNOWN_POWER and ball.is_finite() else ball


def _wave_between(row: FunctionOfOne, lo: arb | float, hi: arb | float) -> tuple[arb, arb]:
    """The least and the greatest value of a sine between two exact numbers, as balls."""
    low, high = as_ball(lo), as_ball(hi)
    first, last = row.of_ball(low), row.of_ball(high)
    if first.is_nan() or last.is_nan():
        return first, last
    below, above = first.min(last), first.max(last)
    if low < high:
        crest = arb.pi() * row.crest
        for place, is_crest in ((crest, True), (crest + arb.pi(), False)):
            start, stop = ((x - place) / (2 * arb.pi()) for x in (low, high))
            if not start.ceil() > stop.floor():
                above, below = (arb(1), below) if is_crest else (above, arb(-1))
    return below, above


OF, OF_DOUBLES = _each(as_ball), _each(arb)
CUT_POWERS = _each(_cut_power)
LOWER, UPPER, ARE_NAN, ARE_FINITE = map(_each_call, ("lower", "upper", "is_nan", "is_finite"))
BELOW, ABOVE = np.frompyfunc(_below, 1, 1), np.frompyfunc(_above, 1, 1)


class BallEnds:
    """Endpoints as exact arb numbers: the outer end of each ball. The context sets the precision."""

    eps = 0.0

    def convert(self, x: Reals) -> Reals:
        x = np.asarray(x)
        if x.dtype == np.float64:
            return OF_DOUBLES(x)
        if x.dtype == np.longdouble:
            return OF(np.array([*x.ravel(), None], dtype=object)[:-1]).reshape(x.shape)
        return OF(x.astype(object))

    def push_outward(self, lo: Reals, hi: Reals) -> Pair:
        return LOWER(lo), UPPER(hi)

    def two_sum(self, a: Reals, b: Reals) -> Pair:
        return self.push_outward(a + b, a + b)

    def function(self, name: str, lo: Reals, hi: Reals) -> Pair:
        row = FUNCTIONS[name]
        if row.course == "wave":
            both = np.frompyfunc(partial(_wave_between, row), 2, 2)(lo, hi)
            return LOWER(both[0]), UPPER(both[1])
        if row.course == "falling":
            lo, hi = hi, lo
        if name == "exp":
            lo = CUT_POWERS(lo)
        apply = _each(lambda x: row.of_ball(as_ball(x)))
        return LOWER(apply(lo)), UPPER(apply(hi))

    def of_two(self, name: str, a: Reals, b: Reals) -> Pair:
        both = _each(OF_TWO[name].of_balls, 2)(OF(a), OF(b))
        return LOWER(both), UPPER(both)

    def hull(self, lo: Reals, hi: Reals, form: Element) -> Pair:
        if form is F64:  # an end is an exact number, so that float() gives the nearest
            below, above = (self.convert(np.asarray(end, dtype=np.float64)) for end in (lo, hi))
        else:
            below, above = self.round_ends(lo, hi, form)
        return np.minimum(lo, below), np.maximum(hi, above)

    def round_ends(self, lo: Reals, hi: Reals, form: Element) -> Pair:
        below, above = np.asarray(BELOW(lo), dtype=np.float64), np.asarray(ABOVE(hi), dtype=np.float64)
        if form is F64:
            return self.convert(below), self.convert(above)
        return self.convert(form.round(below)), self.convert(form.round(above))

    def is_nan(self, x: Reals) -> Reals:
        return np.asarray(ARE_NAN(x), dtype=np.bool_)

    def is_finite(self, x: Reals) -> Reals:
        return np.asarray(ARE_FINITE(x), dtype=np.bool_)

    def total(self, lo: Reals, hi: Reals, axis: int) -> Pair:
        return LOWER(lo.sum(axis=axis, keepdims=True)), UPPER(hi.sum(axis=axis, keepdims=True))

    def running_sums(self, lo: Reals, hi: Reals) -> Pair:
        return LOWER(np.cumsum(lo, axis=-1)), UPPER(np.cumsum(hi, axis=-1))

    def product(self, a: Reals, b: Reals) -> tuple[Reals, Reals]:
        return a @ b, np.asarray(arb(BALL_SUM), dtype=object)

    def exp_above(self, exponent: Reals | float) -> Reals:
        return UPPER(_each(lambda v: as_ball(v).exp())(np.asarray(exponent, dtype=object)))

    def with_room(self, size: Reals | float) -> Reals | float:
        """The same: balls are not rounded."""
        return size

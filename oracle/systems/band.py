"""Bands: for every value of a formula, the set of numbers that a correct kernel under a claim may hold there.

A set is an interval [lo, hi] of the extended reals, and NaN or not; an empty interval stands for NaN alone. Every
step holds the operands' sets, rounds or does not (a compiler may contract, a kernel compute more precisely), and errs
outward. The rules R1 to R6 and R16 of docs/formulas.md stand here; those of sums and the derived ones beside it.
Long, for it is one class, a method for every word of a formula, and below it what these say of pairs of ends.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.elements import F32, F64, FORMATS, Element, Reals
from kfuzz.oracle.rounding import DIVIDE_ROUNDINGS, Accuracy
from kfuzz.oracle.systems import derived, sums
from kfuzz.oracle.systems.ends import Endpoints, FloatEnds, Pair
from kfuzz.oracle.systems.value import Operand, Quantity
from kfuzz.oracle.verdict import Reason, Why

INF = np.inf


class Bands:
    """The sets of one formula under one claim; `work` is the format that is computed in.

    `least`: the least normal number of the narrowest format that a factor of a matrix product may be in.
    """

    inf = np.inf

    def __init__(
        self, claim: Accuracy, sizes: Mapping[str, int], work: Element = F32, form: str = "",
        ends: Endpoints | None = None,
        index: Mapping[str, Reals] | None = None, all_masked: str = "nan", least: float = 0.0,
    ) -> None:  # fmt: skip
        self.claim, self.sizes, self.f, self.form = claim, sizes, work, form
        self.E: Endpoints = ends or FloatEnds(np.longdouble if work is F64 else np.float64)
        self.indices, self.all_masked = {} if index is None else index, all_masked
        self.u, self.ftz = work.u, claim.ftz
        self.tiny = work.min_normal if claim.ftz else work.tiny
        self.least = max(least, work.min_normal)
        self.steps = 0
        self.masked: list[Reals] = []
        self.notes: dict[Reason, int] = {}

    # -- values

    def value(self, lo: Reals, hi: Reals, nan: Reals | bool = False, *how: Any) -> Quantity:  # noqa: ANN401
        """A set, with the number of the step that made it."""
        low = np.asarray(lo)  # a number by itself is no array where it is a ball
        made = Quantity(self, low, low if hi is lo else np.asarray(hi), np.asarray(nan), how=how)
        self.steps += 1
        made.number = self.steps
        return made

    def input(self, x: Reals) -> Quantity:
        """Exact numbers; a denormal may be read as zero where denormals are flushed (R16)."""
        x = np.asarray(x)
        nan = np.isnan(x)
        ends = self.E.of(x)
        lo = hi = ends
        if self.ftz and np.any(low := (np.abs(x) < self.f.min_normal) & (x != 0)):
            lo, hi = np.where(low, np.minimum(ends, 0), ends), np.where(low, np.maximum(ends, 0), ends)
        made = self.value(*hollow(lo, hi, nan), nan)
        made.is_point = lo is hi
        return made

    def number(self, value: Operand) -> Quantity:
        """A constant: exact where the format holds it, else it is rounded once, or not at all (R3)."""
        if isinstance(value, Quantity):
            return value
        x = np.asarray(value, dtype=np.float64)
        rounded = self.f.rounded(x)
        if np.all(x == rounded):
            return self.input(x)
        return self.value(self.E.of(np.minimum(x, rounded)), self.E.of(np.maximum(x, rounded)))

    def derived_number(self, value: float) -> Quantity:
        """A number that a kernel computes for itself, such as 1 / sqrt(d): it is off by two more roundings (R3)."""
        made = self.number(value)
        if math.frexp(abs(value))[0] == 0.5:  # a power of two is exact
            return made
        u = 2 * self.u * (1 + self.u)
        return self.value(made.lo - abs(made.lo) * u, made.hi + abs(made.hi) * u)

    def index(self, dimension: str, axis: int = -1) -> Reals:
        """0, 1, ... along a dimension, which is laid along an axis counted from the end."""
        return self.indices[dimension].reshape(-1, *(1,) * (-axis - 1))

    def size(self, dimension: str) -> int:
        return self.sizes[dimension]

    def is_point(self, a: Quantity) -> bool:
        """Whether the value is exactly known, as an input is: what a derived rule may need."""
        return a.is_point

    # -- rounding

    def rounded(self, lo: Reals, hi: Reals, nan: Reals | bool, *how: Any) -> Quantity:  # noqa: ANN401
        """One rounding, or none (R1): the hull of an interval and of what its ends are rounded to."""
        with np.errstate(all="ignore"):
            lo, hi = self.E.hull(lo, hi, self.f)
            if self.ftz:
                lo, hi = flush(lo, hi, self.f.min_normal)
        return self.value(lo, hi, nan, *how)

    def relative(self, lo: Reals, hi: Reals, nan: Reals | bool, k: float, lost: float | Reals, *how: Any) -> Quantity:  # noqa: ANN401
        """k roundings whose operands need not be these: each relative, and `lost` to underflow.

        R6: underflow never changes a sign, and what is exactly zero stays so.
        """
        with np.errstate(all="ignore"):
            lo, hi = self.E.outward(lo, hi) if not self.E.eps else (lo, hi)
            g = k * self.u * (1 + (k + 1) * self.u) + 8 * self.E.eps  # the ends' own operations, too
            lo, hi = wider(lo, hi, g)
            if np.any(lost):
                lo, hi = underflowed(lo, hi, lost)
            lo, hi = overflowed(lo, hi, self.f)
        return self.value(lo, hi, nan, *how)

    # -- arithmetic over the extended reals

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        return self.rounded(*self.added(a, b), "add", a, b)

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        made = self.rounded(*self._added(a.lo, a.hi, -b.hi, -b.lo, a, b), "sub", a, b)
        if b.how[:1] == ("shift",):
            made.below = (a, b)
        return made

    def _added(
        self, al: Reals, ah: Reals, bl: Reals, bh: Reals, a: Quantity, b: Quantity
    ) -> tuple[Reals, Reals, Reals]:
        with np.errstate(all="ignore"):
            known = self.is_point(a) and self.is_point(b)
            lo, hi = self.E.added(al, bl) if known else self.E.outward(al + bl, ah + bh)
            if known and not (a.lo is a.hi and b.lo is b.hi):  # where one is NaN
                nowhere = (al != ah) | (bl != bh)
                lo, hi = np.where(nowhere, al + bl, lo), np.where(nowhere, ah + bh, hi)
            nan = a.nan | b.nan
            if np.all(self.E.is_finite(lo)) and np.all(self.E.is_finite(hi)):
                return lo, hi, nan
            empty = (al > ah) | (bl > bh)
            clash = ((ah == INF) & (bl == -INF)) | ((al == -INF) & (bh == INF))
            must = ((al == INF) & (bh == -INF)) | ((ah == -INF) & (bl == INF)) | empty
            lo, hi = np.where(self.E.is_nan(lo), -INF, lo), np.where(self.E.is_nan(hi), INF, hi)
            return *hollow(lo, hi, must), nan | (clash & ~empty) | must

    def added(self, a: Quantity, b: Quantity) -> tuple[Reals, Reals, Reals]:
        """The exact sums."""
        return self._added(a.lo, a.hi, b.lo, b.hi, a, b)

    def neg(self, a: Quantity) -> Quantity:
        lo = -a.hi
        return self.value(lo, lo if a.lo is a.hi else -a.lo, a.nan, "neg", a)

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        """A product of two, or of more in any order: relative roundings do not mind, what underflows does."""
        lo, hi, nan = self.multiplied(a, b)
        k = 0.0 if is_power_of_two(a) or is_power_of_two(b) else 1.0
        made = self.relative(lo, hi, nan, k, self.tiny, "mul", a, b, k)
        chain = factors(made)
        return self._in_any_order(made, chain) if len(chain) > 2 else made

    def multiplied(self, a: Quantity, b: Quantity) -> tuple[Reals, Reals, Reals]:
        """The exact products."""
        with np.errstate(all="ignore"):
            nan = a.nan | b.nan
            if a is b and not np.any(a.nan):
                return *squared(a.lo, a.hi), nan
            if a.lo.size and b.lo.size and a.lo.min() >= 0 and b.lo.min() >= 0:
                lo, hi = a.lo * b.lo, a.hi * b.hi
                if np.all(self.E.is_finite(hi)) and np.all(self.E.is_finite(lo)):
                    return lo, hi, nan
            ends = corners(a, b, self.is_point(a), self.is_point(b))
            if all(np.all(self.E.is_finite(end)) for end in ends):
                return least_of(ends), most_of(ends), nan
            zero_a, zero_b = (a.lo <= 0) & (a.hi >= 0), (b.lo <= 0) & (b.hi >= 0)
            inf_a, inf_b = (np.abs(a.lo) == INF) | (np.abs(a.hi) == INF), (np.abs(b.lo) == INF) | (np.abs(b.hi) == INF)
            empty = (a.lo > a.hi) | (b.lo > b.hi)
            must = (is_zero(a) & is_infinite(b)) | (is_infinite(a) & is_zero(b)) | empty
            ends = [np.where(self.E.is_nan(end), 0.0, end) for end in ends]
            lo, hi = hollow(least_of(ends), most_of(ends), must)
            return lo, hi, nan | (((zero_a & inf_b) | (inf_a & zero_b)) & ~empty) | must

    def _in_any_order(self, made: Quantity, chain: list[Quantity]) -> Quantity:
        """Underflow and overflow of a partial product, whichever factors are multiplied first."""
        with np.errstate(all="ignore"):
            sizes = [np.maximum(magnitude(v), 1.0) for v in chain]
            most = most_of(sizes) if len(chain) == 3 else product_of(sizes)
            if not np.all(self.E.is_finite(most)):  # no partial product of an infinity underflows
                most = np.where(self.E.is_finite(most), most, 1.0)
            lo, hi = underflowed(made.lo, made.hi, self.tiny * most)
            nan = made.nan
            if not math.prod(float(np.max(np.asarray(size), initial=1.0)) for size in sizes) < self.f.max:
                over = (product_of(sizes) > self.f.max) & (made.lo <= made.hi) & self.E.is_finite(made.lo)
                lo, hi, nan = np.where(over, -INF, lo), np.where(over, INF, hi), nan | over
        made.parts, made.slack = (np.asarray(lo), np.asarray(hi), nan), most
        return made

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        k = DIVIDE_ROUNDINGS[self.claim.divide]
        return self.divided(a, b, k)

    def divided(self, a: Quantity, b: Quantity, k: float) -> Quantity:
        """a / b by so many roundings."""
        with np.errstate(all="ignore"):
            lo, hi = self._inverse(b)
            inverse = Quantity(self, lo, hi, b.nan)
            lo, hi, nan = self.multiplied(a, inverse)
            must = is_zero(a) & is_zero(b)
            if np.any(must):
                lo, hi = hollow(lo, hi, must)
        lost: Any = self.tiny if self.ftz else max(k, 1) * self.tiny  # what is flushed is so once
        if self.claim.divide != "ieee":
            if "reciprocal" in self.claim.divide:  # 1 / b underflows, and is then multiplied
                is_small = self.E.eps and a.lo.size and np.min(a.lo) >= -1 and np.max(a.hi) <= 1
                if not is_small:
                    size = magnitude(a)
                    lost = lost * np.maximum(np.where(self.E.is_finite(size), size, 1.0), 1.0)
            leaves = self._leaves_division(b) & (lo <= hi)
            if np.any(leaves):
                why = Why.DIVIDED if b.terms is None else Why.DIVIDED_SUM
                rows = self._leaves_division(b)
                self.note(Reason(why, about=self.claim.divide), rows)
                lo, hi, nan = np.where(leaves, -INF, lo), np.where(leaves, INF, hi), nan | leaves
        return self.relative(lo, hi, nan | must, k, lost, "div", a, b, k)

    def _leaves_division(self, b: Quantity) -> Reals:
        """Where a divisor may lie outside [2^-126, 2^126], so that only IEEE's division is what the claim says.

        1 / b is then denormal or infinite, and __fdividef gives 0. A divisor that is sure to overflow is the kernel's
        own fault, and is judged. docs/numerics.md#division
        """
        least, most = (np.asarray(end, dtype=np.float64) for end in (b.lo, b.hi))
        end, last = 2.0 ** (self.f.bias - 1), 2.0 ** min(self.f.bias + 1, 1023)
        low, high = derived.scale_of(self, b)
        with np.errstate(all="ignore"):
            least, most = least * low, most * high
        positive = least > 0
        small = (least > 0) & (least < 1 / end) | (least <= 0) & (most >= 0) & (least < most)
        return np.asarray(small | (np.maximum(most, -least) > end) & ~((least > last) & positive))

    def _inverse(self, b: Quantity) -> Pair:
        """[1 / hi, 1 / lo]; of a zero that a sum of what is not negative comes to, +inf."""
        one = self.E.of(np.asarray(1.0))
        zero = (b.lo <= 0) & (b.hi >= 0)
        if not np.any(zero) and np.all(self.E.is_finite(b.lo)) and np.all(self.E.is_finite(b.hi)):
            return (one / b.hi, one / b.lo) if self.E.eps else self.E.outward(one / b.hi, one / b.lo)
        safe_lo, safe_hi = (np.where((end == 0) | (np.abs(end) == INF), one, end) for end in (b.lo, b.hi))
        lo, hi = self.E.outward(one / safe_hi, one / safe_lo)
        lo, hi = np.where(np.abs(b.hi) == INF, 0.0, lo), np.where(np.abs(b.lo) == INF, 0.0, hi)
        positive = b.lo >= 0
        lo = np.where(zero, np.where(positive & (b.hi > 0), lo, np.where(positive, INF, -INF)), lo)
        hi = np.where(zero, INF, hi)
        return hollow(lo, hi, b.lo > b.hi)

    # -- functions, each with its model

    def function(self, name: str, a: Quantity, least: float = -INF, most: float = INF) -> Quantity:
        """A monotone function of a set: f(t) (1 +- k u) +- what its model and underflow leave open."""
        model = self.claim.function(name)
        with np.errstate(all="ignore"):
            lo, hi = self.E.function(name, a.lo, a.hi)
            lo, hi = np.where(self.E.is_nan(lo), -INF, lo), np.where(self.E.is_nan(hi), INF, hi)
            g = model.a0 * self.u * (1 + 2.0**-16)
            lo, hi = wider(lo, hi, g)
            lo, hi = underflowed(lo, hi, model.a0 * self.tiny)
            if model.absolute:
                lo, hi = lo - model.absolute, hi + model.absolute
            lo, hi = np.maximum(lo, least), np.minimum(hi, most)
            lo, hi = hollow(lo, hi, a.lo > a.hi)
        return self.value(lo, hi, a.nan, name, a)

    def exp(self, a: Quantity) -> Quantity:
        return derived.exponential(self, a)

    def log(self, a: Quantity) -> Quantity:
        return self._over_positive("log", a)

    def sqrt(self, a: Quantity) -> Quantity:
        return self._over_positive("sqrt", a, 0.0)

    def rsqrt(self, a: Quantity) -> Quantity:
        """rsqrtf, or 1 / sqrtf."""
        return self._over_positive("rsqrt", a, 0.0)

    def _over_positive(self, name: str, a: Quantity, least: float = -INF) -> Quantity:
        """A function that is NaN below zero."""
        below = (a.lo < 0) & (a.lo <= a.hi)
        if not np.any(below):
            return self.function(name, a, least)
        zero = self.E.of(np.zeros(()))
        must = a.hi < 0
        inside = Quantity(
            self, np.where(below, np.where(must, INF, zero), a.lo), np.where(must, -INF, a.hi), a.nan | below
        )
        made = self.function(name, inside, least)
        made.how = (name, a)
        return made

    def tanh(self, a: Quantity) -> Quantity:
        return self.function("tanh", a, -1.0, 1.0)

    def erf(self, a: Quantity) -> Quantity:
        return self.function("erf", a, -1.0, 1.0)

    def sigmoid(self, a: Quantity) -> Quantity:
        return self.div(self.number(1.0), self.add(self.number(1.0), self.exp(self.neg(a))))

    # -- selection

    def max(self, a: Quantity, axis: int = -1) -> Quantity:
        if not a.shape[axis]:
            nothing = self.E.of(np.full(reduced(a.shape, axis), -INF))
            return self.value(nothing, nothing)
        nan = sums.any_along(a.nan, a.shape, axis)
        lo, hi = np.maximum.reduce(a.lo, axis=axis, keepdims=True), np.maximum.reduce(a.hi, axis=axis, keepdims=True)
        if np.any(nan):
            empty = sums.any_along(a.lo > a.hi, a.shape, axis)
            lo, hi = np.where(empty, -INF, lo), np.where(empty, INF, hi)
        return self.value(lo, hi, nan)

    def maximum(self, a: Operand, b: Operand) -> Quantity:
        """The greater of two. Of NaN and a number either: fmaxf drops the NaN, and a comparison may keep it."""
        a, b = self.number(a), self.number(b)
        lo = np.maximum(a.lo, b.lo)
        hi = lo if a.lo is a.hi and b.lo is b.hi else np.maximum(a.hi, b.hi)
        nan = a.nan | b.nan
        if not np.any(nan):
            return self.value(lo, hi)
        lo = np.where(a.nan, np.minimum(lo, b.lo), lo)  # the end of an empty set is no number's: inf stays above
        hi = np.where(a.nan, np.maximum(hi, b.hi), hi)
        return self.value(np.where(b.nan, np.minimum(lo, a.lo), lo), np.where(b.nan, np.maximum(hi, a.hi), hi), nan)

    def minimum(self, a: Operand, b: Operand) -> Quantity:
        return self.neg(self.maximum(self.neg(self.number(a)), self.neg(self.number(b))))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity:
        a, b = (v if isinstance(v, Quantity) else self.input(np.asarray(v)) for v in (a, b))
        same = a.lo is a.hi and b.lo is b.hi
        lo = np.where(mask, a.lo, b.lo)
        made = self.value(lo, lo if same else np.where(mask, a.hi, b.hi), np.where(mask, a.nan, b.nan), "where", a, b)
        made.is_point = self.is_point(a) and self.is_point(b)
        return made

    def take(self, a: Quantity, index: Reals) -> Quantity:
        parts = [np.take_along_axis(np.broadcast_to(part, a.shape), index, -1) for part in (a.lo, a.hi, a.nan)]
        made = self.value(parts[0], parts[0] if a.lo is a.hi else parts[1], parts[2])
        made.is_point = self.is_point(a)
        return made

    def join(self, a: Quantity, b: Quantity) -> Quantity:
        """One beside the other along the last axis."""
        parts = [[np.broadcast_to(part, v.shape) for part in v.parts] for v in (a, b)]
        lo, hi, nan = (np.concatenate(pair, axis=-1) for pair in zip(*parts, strict=True))
        return self.value(lo, hi, nan, "join", a, b)

    def unknown(self, why: str, *sizes: int) -> Quantity:
        """Anything, and NaN."""
        end = np.full(sizes, INF)
        self.note(Reason(Why.UNKNOWN, about=why), end > 0)
        return self.value(self.E.of(-end), self.E.of(end), end > 0)

    def keep(self, a: Quantity, name: str) -> Quantity:
        """R9: what a kernel may hold in a narrower format under this name, at a scale of its own: relative."""
        narrow = self.claim.kept(name)
        if narrow is None:
            return a
        form = FORMATS[narrow]
        with np.errstate(all="ignore"):
            lo, hi = wider(a.lo, a.hi, form.u)
            lost = form.tiny * (derived.lift(a.terms, self) if a.terms is not None else 1.0)
            lo, hi = underflowed(lo, hi, lost)
        made = self.value(lo, hi, a.nan, "kept", a, form)
        made.terms = a.terms
        made.name = name
        return made

    def stored(self, a: Quantity, form: Element) -> Quantity:
        """R5: an output of a format is what the ends are rounded to; every number of the format itself is between."""
        if form is self.f:
            return a
        with np.errstate(all="ignore"):
            lo, hi = self.E.stored(a.lo, a.hi, form)
            lo, hi = hollow(lo, hi, a.lo > a.hi)
        return self.value(lo, hi, a.nan, "stored", a, form)

    # -- sums and derived rules, each in a module of its own

    def sum(self, a: Quantity, sum: str = "sum", axis: int = -1) -> Quantity:
        return sums.total(self, a, sum, axis)

    def mean(self, a: Quantity, sum: str = "mean", axis: int = -1) -> Quantity:
        return sums.mean(self, a, sum, axis)

    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: int = -1) -> Quantity:
        return sums.dot(self, a, b, sum, axis)

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        return sums.matmul(self, a, b, sum, starts)

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        return sums.running(self, a, sum, exclusive)

    def shift(self, a: Quantity, axis: int = -1) -> Quantity:
        return derived.shift(self, a, axis)

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0
    ) -> tuple[Quantity, Quantity]:
        return derived.mean_var(self, x, sums, correction)

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        return derived.average(self, e, v, sums)

    def note(self, reason: Reason, where: Reals) -> None:
        """Why some sets hold everything."""
        self.notes[reason] = self.notes.get(reason, 0) + int(np.sum(where))


def wider(lo: Reals, hi: Reals, g: float) -> Pair:
    """By g relative, infinities as they are."""
    one: Any = np.longdouble(1) if lo.dtype == np.longdouble else 1.0  # of doubles, 1 - g would lose the last of g
    if lo.size and lo.min() >= 0:
        return lo * (one - g), hi * (one + g)
    if lo.dtype == object:
        return np.where(lo >= 0, lo * (1 - g), lo * (1 + g)), np.where(hi >= 0, hi * (1 + g), hi * (1 - g))
    below, above = np.asarray(np.copysign(one * g, lo)), np.asarray(np.copysign(one * g, hi))
    np.subtract(one, below, out=below)
    np.add(one, above, out=above)
    below *= lo
    above *= hi
    return below, above


def flush(lo: Reals, hi: Reals, least: float) -> Pair:
    """A denormal becomes zero, or stays (R16)."""
    lo = np.where((lo > 0) & (lo < least), 0.0, np.where((lo < 0) & (lo > -least), -least, lo))
    return lo, np.where((hi < 0) & (hi > -least), 0.0, np.where((hi > 0) & (hi < least), least, hi))


def underflowed(lo: Reals, hi: Reals, lost: Reals | float) -> Pair:
    """R6: what is not negative stays so, and an exact zero is exact."""
    if lo.size and lo.min() > 0:
        below = np.asarray(lo - lost)
        return np.maximum(below, 0.0, out=below), hi + lost
    if _is_far_above(lo, hi, lost):
        return lo, hi
    below, above = np.asarray(lo - lost), np.asarray(hi + lost)
    if below.dtype == object:
        return np.where(lo >= 0, np.maximum(below, 0.0), below), np.where(hi <= 0, np.minimum(above, 0.0), above)
    for end, crosses in ((below, (lo >= 0) & (below < 0)), (above, (hi <= 0) & (above > 0))):
        if np.any(crosses):  # few do, and to choose among all of them costs ten times what this does
            end[crosses] = 0.0
    return below, above


def _is_far_above(lo: Reals, hi: Reals, lost: Reals | float) -> bool:
    """Whether no end is moved by so little: it is less than a quarter of their last places."""
    if lo.dtype != np.float64 or not lo.size or (np.shape(lost) and np.shape(lost) != lo.shape):
        return False
    least = (lost if isinstance(lost, float) else np.max(lost)) * 2.0**55
    return bool(np.abs(lo).min() > least and np.abs(hi).min() > least)


def overflowed(lo: Reals, hi: Reals, form: Element) -> Pair:
    """From half a place beyond the greatest number on there is infinity."""
    most, beyond = form.max, form.max * (1 + form.u / 2)
    if not (np.any(hi >= beyond) or np.any(lo <= -beyond)):
        return lo, hi
    inside = lo <= hi
    lo, hi = np.where((lo <= -beyond) & inside, -INF, lo), np.where((hi >= beyond) & inside, INF, hi)
    return np.where((lo > most) & inside, most, lo), np.where((hi < -most) & inside, -most, hi)


def hollow(lo: Reals, hi: Reals, must: Reals) -> Pair:
    """The empty interval where NaN is all there may be."""
    if not np.any(must):
        return lo, hi
    return np.where(must, INF, lo), np.where(must, -INF, hi)


def corners(a: Quantity, b: Quantity, point_a: bool, point_b: bool) -> list[Reals]:
    if point_a and point_b:
        return [a.lo * b.lo]
    if point_a or point_b:
        return [a.lo * b.lo, a.hi * b.hi]
    return [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi]


def least_of(ends: list[Reals]) -> Reals:
    made = ends[0]
    for end in ends[1:]:
        made = np.minimum(made, end)
    return made


def most_of(ends: list[Reals]) -> Reals:
    made = ends[0]
    for end in ends[1:]:
        made = np.maximum(made, end)
    return made


def squared(lo: Reals, hi: Reals) -> Pair:
    least, most = np.minimum(np.abs(lo), np.abs(hi)), np.maximum(np.abs(lo), np.abs(hi))
    least = np.where((lo <= 0) & (hi >= 0), 0.0, least)
    return least * least, most * most


def magnitude(a: Quantity) -> Reals:
    return np.maximum(np.abs(a.lo), np.abs(a.hi))


def product_of(sizes: list[Reals]) -> Reals:
    made = sizes[0]
    for size in sizes[1:]:
        made = made * size
    return made


def factors(a: Quantity) -> list[Quantity]:
    """The factors of a product of products."""
    if a.how[:1] != ("mul",):
        return [a]
    return [factor for operand in a.how[1:3] for factor in factors(operand)]


def is_power_of_two(a: Quantity) -> bool:
    """A constant by which a product is exact."""
    if a.lo.ndim or (a.lo is not a.hi and a.lo != a.hi):
        return False
    return bool(np.frexp(abs(float(a.lo)))[0] == 0.5)


def is_zero(a: Quantity) -> Reals:
    return np.asarray((a.lo == 0) & (a.hi == 0), dtype=np.bool_)


def is_infinite(a: Quantity) -> Reals:
    return np.asarray((a.lo == a.hi) & (np.abs(a.lo) == INF), dtype=np.bool_)


def reduced(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(1 if place == axis % len(shape) else size for place, size in enumerate(shape))

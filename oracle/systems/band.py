"""Bands: for every value of a formula, the set of numbers that a correct kernel under a claim may compute there.

A set is an interval [lo, hi] of the extended reals, with or without NaN; an empty interval means NaN alone. Every step
covers its operands' sets, with and without rounding (a compiler may contract, a kernel may compute more precisely),
and errs outward. This file has rounding, sums of two and formats (rules R1, R3, R5, R6, R9 and R16 of
docs/formulas.md); each other rule has a file in `rules/`.
Long, since it has every word of formulas.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS, Accuracy
from kfuzz.oracle.numbers.elements import E4M3, ELEMENTS, F32, F64, FORMATS, Element, Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Special, Why
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import fold, unfold
from kfuzz.oracle.systems.ends import Endpoints, FloatEnds
from kfuzz.oracle.systems.exact import ScatterKind
from kfuzz.oracle.systems.intervals import empty_where, flush, round_overflow, widen_by_underflow, widen_relative
from kfuzz.oracle.systems.loops import LoopWords
from kfuzz.oracle.systems.moves import MoveWords
from kfuzz.oracle.systems.rules import (
    amax,
    average,
    division,
    exponential,
    functions,
    matmul,
    normalized,
    place,
    power,
    product,
    quantized,
    running,
    running_product,
    scale,
    scatter,
    selection,
    shift,
    total,
    variance,
    written,
)
from kfuzz.oracle.systems.value import Axes, Operand, Quantity, WordsForFunctions, group

INF = np.inf


class Bands(MoveWords, LoopWords, WordsForFunctions):
    """The sets of one formula under one claim; `work` is the format in which the kernel computes.

    `least`: the least normal number of the narrowest format that a factor of a matrix product may be in.
    `formats`: the element type of each output. `answers`: the numbers that the kernel wrote there. `is_silent`: what
    becomes of a row of nothing but -inf is not said.
    """

    inf = np.inf

    def __init__(
        self, claim: Accuracy, sizes: Mapping[str, int], work: Element = F32, form: str = "",
        ends: Endpoints | None = None,
        index: Mapping[str, Reals] | None = None, special: Special | None = None, least: float = 0.0,
        formats: Mapping[str, Element] | None = None, answers: Mapping[str, Reals] | None = None,
        is_silent: bool = False,
    ) -> None:  # fmt: skip
        self.is_silent = is_silent
        self.formats, self.answers = formats or {}, answers or {}
        self.claim, self.sizes, self.f, self.form = claim, sizes, work, form
        self.E: Endpoints = ends or FloatEnds(np.longdouble if work is F64 else np.float64)
        self.indices, self.special = {} if index is None else index, special or Special()
        self.u, self.ftz = work.u, claim.ftz
        self.counts_absent = claim.order is not None
        self.tiny = work.min_normal if claim.ftz else work.tiny
        self.least = max(least, work.min_normal)
        self.made = 0
        self.masked: list[Reals] = []
        self.notes: dict[Reason, int] = {}
        self.spreads: list[normalized.Deviations] = []

    # -- values

    def value(self, lo: Reals, hi: Reals, nan: Reals | bool = False, *how: Any) -> Quantity:  # noqa: ANN401
        """Make a set, numbered by its step."""
        low = np.asarray(lo)  # a single ball is not an array yet
        made = Quantity(self, low, low if hi is lo else np.asarray(hi), np.asarray(nan), how=how)
        self.made += 1
        made.number = self.made
        return made

    def input(self, x: Reals) -> Quantity:
        """Make sets of exact numbers; where denormals are flushed, a kernel may read a denormal as zero (R16)."""
        x = np.asarray(x)
        nan = np.isnan(x)
        ends = self.E.convert(x)
        lo = hi = ends
        if self.ftz and any_of(low := (np.abs(x) < self.f.min_normal) & (x != 0)):
            lo, hi = np.where(low, np.minimum(ends, 0), ends), np.where(low, np.maximum(ends, 0), ends)
        made = self.value(*empty_where(lo, hi, nan), nan)
        made.is_point = lo is hi
        return made

    def number(self, value: Operand) -> Quantity:
        """Make a constant: exact if the format contains it, else rounded once or not at all (R3)."""
        if isinstance(value, Quantity):
            return value
        x = np.asarray(value, dtype=np.float64)
        rounded = self.f.round(x)
        if all_of(x == rounded):
            return self.input(x)
        return self.value(self.E.convert(np.minimum(x, rounded)), self.E.convert(np.maximum(x, rounded)))

    def derived_number(self, value: float) -> Quantity:
        """Make a number that a kernel computes, such as 1 / sqrt(d), which errs by two more roundings (R3)."""
        made = self.number(value)
        if math.frexp(abs(value))[0] == 0.5:  # a power of two is exact
            return made
        u = 2 * self.u * (1 + self.u)
        return self.value(made.lo - abs(made.lo) * u, made.hi + abs(made.hi) * u)

    def index(self, dimension: str, axis: int = -1) -> Reals:
        """0, 1, ... along a dimension, placed along an axis that is counted from the end."""
        return self.indices[dimension].reshape(-1, *(1,) * (-axis - 1))

    def size(self, dimension: str) -> int:
        return self.sizes[dimension]

    def is_point(self, a: Quantity) -> bool:
        """Whether the value is exactly known, as an input is; some rules require it."""
        return a.is_point

    # -- rounding

    def round_once(self, lo: Reals, hi: Reals, nan: Reals | bool, *how: Any) -> Quantity:  # noqa: ANN401
        """Round once or not at all (R1): the hull of an interval and of its rounded ends."""
        with np.errstate(all="ignore"):
            lo, hi = self.E.hull(lo, hi, self.f)
            if self.ftz:
                lo, hi = flush(lo, hi, self.f.min_normal)
        return self.value(lo, hi, nan, *how)

    def widen(self, lo: Reals, hi: Reals, nan: Reals | bool, k: float, lost: float | Reals, *how: Any) -> Quantity:  # noqa: ANN401
        """Widen by k relative roundings, whose operands need not be these, and by `lost` to underflow.

        R6: underflow never changes a sign, and an exact zero stays zero.
        """
        with np.errstate(all="ignore"):
            lo, hi = self.E.push_outward(lo, hi) if not self.E.eps else (lo, hi)
            g = k * self.u * (1 + (k + 1) * self.u) + 8 * self.E.eps  # including the operations on the ends
            lo, hi = widen_relative(lo, hi, g)
            if any_of(lost):
                lo, hi = widen_by_underflow(lo, hi, lost)
            lo, hi = round_overflow(lo, hi, self.f)
        return self.value(lo, hi, nan, *how)

    # -- arithmetic over the extended reals

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        return self.round_once(*self.exact_sum(a, b), "add", a, b)

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        made = self.round_once(*self._exact_sum(a.lo, a.hi, -b.hi, -b.lo, a, b), "sub", a, b)
        if b.how[:1] == ("shift",):
            made.below = (a, b)
        return made

    def _exact_sum(
        self, al: Reals, ah: Reals, bl: Reals, bh: Reals, a: Quantity, b: Quantity
    ) -> tuple[Reals, Reals, Reals]:
        with np.errstate(all="ignore"):
            known = self.is_point(a) and self.is_point(b)
            lo, hi = self.E.two_sum(al, bl) if known else self.E.push_outward(al + bl, ah + bh)
            if known and not (a.lo is a.hi and b.lo is b.hi):  # where one is NaN
                nowhere = (al != ah) | (bl != bh)
                lo, hi = np.where(nowhere, al + bl, lo), np.where(nowhere, ah + bh, hi)
            nan = a.nan | b.nan
            single = False if known else _are_numbers((al, ah), (bl, bh))
            if any_of(single):  # numbers among sets, as the log of one exp is
                lo, hi = (np.where(single, *pair) for pair in zip(self.E.two_sum(al, bl), (lo, hi), strict=True))
            if all_of(self.E.is_finite(lo)) and (hi is lo or all_of(self.E.is_finite(hi))):
                return lo, hi, nan
            empty = (al > ah) | (bl > bh)
            clash = ((ah == INF) & (bl == -INF)) | ((al == -INF) & (bh == INF))
            must = ((al == INF) & (bh == -INF)) | ((ah == -INF) & (bl == INF)) | empty
            lo, hi = np.where(self.E.is_nan(lo), -INF, lo), np.where(self.E.is_nan(hi), INF, hi)
            return *empty_where(lo, hi, must), nan | (clash & ~empty) | must

    def exact_sum(self, a: Quantity, b: Quantity) -> tuple[Reals, Reals, Reals]:
        """The set of the exact sum of two."""
        return self._exact_sum(a.lo, a.hi, b.lo, b.hi, a, b)

    def neg(self, a: Quantity) -> Quantity:
        lo = -a.hi
        return self.value(lo, lo if a.lo is a.hi else -a.lo, a.nan, "neg", a)

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        return product.multiply(self, a, b)

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        return division.divide(self, a, b, DIVIDE_ROUNDINGS[self.claim.divide])

    # -- functions, each with the model of its error

    def exp(self, a: Quantity) -> Quantity:
        return exponential.exponential(self, a)

    def function(self, name: str, a: Quantity) -> Quantity:
        return functions.function(self, name, a)

    def pow(self, a: Operand, b: Operand) -> Quantity:
        return power.power(self, self.number(a), self.number(b))

    def atan2(self, y: Operand, x: Operand) -> Quantity:
        return power.angle(self, self.number(y), self.number(x))

    def sigmoid(self, a: Quantity) -> Quantity:
        return self.div(self.number(1.0), self.add(self.number(1.0), self.exp(self.neg(a))))

    # -- selection

    def max(self, a: Quantity, axis: Axes = -1) -> Quantity:
        if isinstance(axis, tuple):
            return unfold(self.max(fold(a, axis)), a.shape, axis)
        return selection.max_along(self, a, axis)

    def maximum(self, a: Operand, b: Operand) -> Quantity:
        return selection.greater_of(self, a, b)

    def minimum(self, a: Operand, b: Operand) -> Quantity:
        return self.neg(self.maximum(self.neg(self.number(a)), self.neg(self.number(b))))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity:
        return selection.choose(self, mask, a, b)

    def take(self, a: Quantity, index: Reals, axis: int = -1) -> Quantity:
        return selection.take_along(self, a, index, axis)

    def join(self, *values: Quantity, axis: int = -1) -> Quantity:
        return selection.join_along(self, values, axis)

    def places(self, a: Quantity, names: Reals | None = None) -> Quantity:
        return place.places_of_maximum(self, a, names)

    # -- moves

    def unknown(self, why: str, *sizes: int) -> Quantity:
        """A value of which nothing is known: any number, or NaN."""
        end = np.full(sizes, INF)
        self.note(Reason(Why.UNKNOWN, about=why), end > 0)
        return self.value(self.E.convert(-end), self.E.convert(end), end > 0)

    def keep(self, a: Quantity, name: str) -> Quantity:
        """R9: a value that a kernel may keep in a narrower format, at its own scale, so that the error is relative.

        Beyond the narrower format it is infinite in a kernel that keeps it there, and a number in one that does not.
        """
        narrow = self.claim.narrow_format(name)
        if narrow is None:
            return a
        form = FORMATS[narrow]
        if name in self.claim.rounds and a.terms is None:
            return self.round_kept(a, name, form)
        with np.errstate(all="ignore"):
            lo, hi = widen_relative(a.lo, a.hi, form.u)
            lost = form.tiny * (a.terms.lift if a.terms is not None else 1.0)
            lo, hi = widen_by_underflow(lo, hi, lost)
            beyond = form.max * (1 + form.u / 2)
            if a.terms is None and (any_of(hi >= beyond) or any_of(lo <= -beyond)):
                inside = lo <= hi
                lo, hi = np.where((lo <= -beyond) & inside, -INF, lo), np.where((hi >= beyond) & inside, INF, hi)
        made = self.value(lo, hi, a.nan, "kept", a, form)
        made.terms = a.terms
        made.name = name
        return made

    def round_kept(self, a: Quantity, name: str, form: Element) -> Quantity:
        """R23: a value that every right kernel rounds lies between the rounded ends of its set, as an output does."""
        made = self.store(a, form)
        made.name = name
        return made

    def store(self, a: Quantity, form: Element) -> Quantity:
        """R5: round the ends of an output to its format; every number of the format in the set lies between them."""
        if form is self.f or a.how[:1] == ("quantized",):
            return a
        if form.is_narrow:
            return quantized.store_narrow(self, a, form)
        with np.errstate(all="ignore"):
            lo, hi = self.E.round_ends(a.lo, a.hi, form)
            lo, hi = empty_where(lo, hi, a.lo > a.hi)
        return self.value(lo, hi, a.nan, "stored", a, form)

    # -- groups that share a scale, and grids

    def element_of(self, name: str) -> Element:
        """The element type of an output that is a grid, or of this name."""
        return self.formats.get(name) or ELEMENTS.get(name, E4M3)

    def groups(self, a: Quantity, width: str | int, height: str | int = 1) -> Quantity:
        return group(self, a, width, height)

    def amax(self, a: Quantity, signed: bool = False) -> Quantity:
        return amax.amax_of_groups(self, a, signed)

    def scale(self, amax: Quantity, onto: str, name: str, least: Operand = 0.0, least_scale: Operand = 0.0) -> Quantity:
        return scale.scale_of_groups(self, amax, onto, name, least, least_scale)

    def written(self, a: Quantity) -> Quantity:
        return written.written(self, a)

    def quantize(self, a: Quantity, scale: Quantity, name: str, zero: Quantity | None = None) -> Quantity:
        return quantized.quantize(self, a, scale, name, zero)

    def dequantize(self, a: Quantity, scale: Quantity, zero: Quantity | None = None) -> Quantity:
        number = a if zero is None else self.sub(a, quantized.spread_over(self, zero, a))
        return self.mul(number, quantized.spread_over(self, scale, a))

    # -- sums, and values that a row shares

    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity:
        if isinstance(axis, tuple):
            return unfold(self.sum(fold(a, axis), sum), a.shape, axis)
        return total.total_of(self, a, sum, axis)

    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity:
        if isinstance(axis, tuple):
            return unfold(self.mean(fold(a, axis), sum), a.shape, axis)
        return total.mean_of(self, a, sum, axis)

    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: Axes = -1) -> Quantity:
        if isinstance(axis, tuple):
            shape = np.broadcast_shapes(a.shape, b.shape)
            first = fold(a, axis, shape)
            return unfold(self.dot(first, first if a is b else fold(b, axis, shape), sum), shape, axis)
        return total.dot_of(self, a, b, sum, axis)

    def product(self, a: Quantity, sum: str = "product", axis: Axes = -1) -> Quantity:
        if axis != -1:
            return unfold(self.product(fold(a, axis), sum), a.shape, axis)
        return running_product.product_of(self, a, sum)

    def running_product(self, a: Quantity, sum: str = "product") -> Quantity:
        return running_product.running_product(self, a, sum)

    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: ScatterKind = "sum", sum: str = "scatter",
        axis: int = -1,
    ) -> Quantity:  # fmt: skip
        return scatter.scatter(self, into, index, values, how, sum, axis)

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        return matmul.matmul(self, a, b, sum, present(starts))

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        return running.running_sum(self, a, sum, exclusive)

    def shift(self, a: Quantity, axis: int = -1) -> Quantity:
        return shift.shift(self, a, axis)

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        folded = x if axis == -1 else fold(x, axis)
        mean, var = variance.mean_var(self, folded, sums, correction)
        if axis != -1:
            mean, var = unfold(mean, x.shape, axis), unfold(var, x.shape, axis)
        if not self.form.startswith(("welford", "moments")):
            normalized.remember_spread(self, x, mean, var, sums, folded.shape[-1], correction)
        return mean, var

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        return average.average(self, e, v, sums)

    def note(self, reason: Reason, where: Reals) -> None:
        """Note why some sets contain everything."""
        self.notes[reason] = self.notes.get(reason, 0) + int(np.sum(where))


def _are_numbers(*pairs: tuple[Reals, Reals]) -> Reals | bool:
    """Where all of some intervals are single numbers; later ones are not looked at once no place is left."""
    single: Reals | bool = True
    for lo, hi in pairs:
        single = single if lo is hi else single & (lo == hi)
        if not any_of(single):
            break
    return single

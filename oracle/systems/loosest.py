"""The loosest bound: where the answer of any algorithm lies that reassociates, distributes, folds, fuses or shifts.

Each value is (v, A, K, E, G). v: its exact value. A: the sum of the absolute values of the terms of its expansion since
the last barrier. K: in how many roundings such a term may take part. E: the errors of what lies behind barriers. G: the
sum of the terms' sizes, each factor taken as 1 at least, since any of their products may be lost to underflow and the
other factors enlarge the loss. A computed value lies within
E + (e^(K u) - 1) (A + E) of v: docs/numerics.md#the-loosest-bound. A function and a divisor are barriers, for no
algorithm distributes over them; nor does one over a maximum, where the terms are counted again. A word that this system
does not have gives no bound. Long, since it has one bound for each word of formulas.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from kfuzz.oracle.accuracy.functions import FUNCTIONS, OF_TWO
from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS, FAR, Accuracy
from kfuzz.oracle.numbers.elements import FORMATS, Element, Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.base_two import LOG2_E
from kfuzz.oracle.systems.exact import ScatterKind, scatter_places
from kfuzz.oracle.systems.exponents import COMMON, Exponents, SumOfExponentials
from kfuzz.oracle.systems.loops import LoopWords
from kfuzz.oracle.systems.moves import MoveWords
from kfuzz.oracle.systems.room import ROUNDINGS_256
from kfuzz.oracle.systems.value import Axes, Operand, Quantity, System, WordsForFunctions

INF = np.inf
OWN_SIZE = {"tanh": 1.0, "erf": 1.0, "erfc": 2.0, "expm1": 1.0, "log1p": 1.0, "cos": 1.0}
"""A term that some algorithm for the function has and whose size its error follows: tanh is 1 - 2 / (e^2x + 1)."""
LOGARITHMS = {"log": 1.0, "log2": 1 / math.log(2), "log10": 1 / math.log(10)}
RESCALE = 2
"""The roundings of one rescale besides those of its exp: the argument and the product."""
MEANS = 3.25
"""By rule R12 running means add 3.2 sqrt(S T) to a sum S of squares, and the rest covers what is relative to u."""


class Loosest(MoveWords, LoopWords, WordsForFunctions):
    """The loosest bounds of one formula in float64, whose own errors are far below the u of a narrower format."""

    inf = INF
    counts_absent = False

    def __init__(
        self, claim: Accuracy, sizes: Mapping[str, int], work: Element, form: str, index: Mapping[str, Reals]
    ) -> None:
        self.claim, self.sizes, self.f, self.form, self.indices = claim, sizes, work, form, index
        self.u = work.u * ROUNDINGS_256  # also covers the errors of float64 and of numpy's functions
        self.tiny = work.min_normal if claim.ftz else work.tiny
        self.masked: list[Reals] = []

    def value(
        self, v: Reals, A: Reals, K: Reals | float, E: Reals | float = 0.0, G: Reals | float | None = None
    ) -> Quantity:
        """Make a value, a term of its own if nothing says G; what may overflow on the way can be anything."""
        v, A, K, E = (np.asarray(part, dtype=np.float64) for part in (v, A, K, E))
        is_infinite = np.isinf(v)  # exactly: a mask's -inf
        A, E = np.where(is_infinite, 0.0, A), np.where(is_infinite, 0.0, E)
        size = np.where(is_infinite, 1.0, one_factor(v, E) if G is None else G)
        made = self._made(v, A, K, E, size)
        reach = A + E + self.own(made)
        made.parts = (v, A, K, np.where((reach > self.f.max) | np.isnan(reach), INF, E), size)
        return made

    def _made(self, *parts: Reals) -> Quantity:
        return Quantity(cast(System, self), *parts)  # without the words for grids

    def radius(self, a: Quantity) -> Reals:
        """How far a computed value may lie from the exact one."""
        _, _, K, E, _ = a.parts
        return np.asarray(E + self.own(a) + np.where(K > 0, self.tiny, 0.0))

    def own(self, a: Quantity) -> Reals:
        """The part of it that comes from roundings since the last barrier."""
        _, A, K, E, _ = a.parts
        return np.asarray(np.where(K > 0, np.expm1(np.minimum(K * self.u, FAR)) * (A + E), 0.0))

    def ends(self, a: Quantity, form: Element) -> tuple[Reals, Reals]:
        """The least and the greatest answer, stored in a format; none where nothing is rounded, or all is NaN."""
        R = self.radius(a)
        lo, hi = form.round(a.x - R), form.round(a.x + R)
        lo, hi = np.where(np.isnan(lo), -INF, lo), np.where(np.isnan(hi), INF, hi)
        is_exact = (a.parts[2] == 0) | np.isnan(a.x)
        return np.where(is_exact, INF, lo), np.where(is_exact, -INF, hi)

    # -- inputs and constants

    def input(self, x: Reals) -> Quantity:
        x = np.asarray(x, dtype=np.float64)
        flushed = np.where(np.abs(x) < self.f.min_normal, np.abs(x), 0.0) if self.claim.ftz else 0.0
        return self.value(x, np.abs(x), np.zeros(x.shape), flushed)

    def number(self, value: Operand) -> Quantity:
        if isinstance(value, Quantity):
            return value
        x = np.asarray(value, dtype=np.float64)
        return self.value(x, np.abs(x), np.where(x == self.f.round(x), 0.0, 1.0))

    def derived_number(self, value: float) -> Quantity:
        """Make a number that a kernel computes by three roundings at most."""
        x = np.asarray(value)
        return self.value(x, np.abs(x), 3.0)

    def index(self, dimension: str, axis: int = -1) -> Reals:
        return self.indices[dimension].reshape(-1, *(1,) * (-axis - 1))

    def size(self, dimension: str) -> int:
        return self.sizes[dimension]

    # -- sums and products of two

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        (v, A, K, E, G), (w, B, L, F, H) = a.parts, b.parts
        return self.value(v + w, A + B, np.maximum(K, L) + 1, E + F, G + H)

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        made = self.add(a, self.neg(b))
        if b.how[:1] == ("shift",):  # a difference below all numbers is as good as one: its exp is 0
            parts = a.parts[1] + b.parts[1], np.maximum(a.parts[2], b.parts[2]) + 1, a.parts[3] + b.parts[3]
            made.how = ("below a shift", self.radius(self._made(made.x, *parts, made.parts[4])))
        return made

    def neg(self, a: Quantity) -> Quantity:
        return self._made(-a.x, *a.parts[1:])

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        (v, A, K, E, G), (w, B, L, F, H) = a.parts, b.parts
        crossed = E * (np.abs(w) + self.own(b)) + F * (np.abs(v) + self.own(a)) + E * F
        crossed = np.where(np.isnan(crossed), INF, crossed)
        count = K + L + 1  # no fewer than the products and quotients of a term
        return self.value(v * w, A * B, count, crossed + self.tiny * count * G * H, G * H)

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        """A product with 1 / b, a barrier."""
        R, size = self.radius(b), np.abs(b.x)
        rest = size - R
        off = np.where(rest > 0, R / np.where(rest > 0, rest, 1.0) / size, INF)
        inverse = self.value(1 / b.x, 1 / size, DIVIDE_ROUNDINGS[self.claim.divide], off)
        made = self.mul(a, inverse)
        shared = b.how[2] if b.how[:1] == ("exps",) else None
        return made if shared is None or shared.terms is not a else self._shares(made, shared)

    def _shares(self, made: Quantity, total: SumOfExponentials) -> Quantity:
        """The shares of a sum's own terms in it: however far off the terms are, they make up one."""
        ends, axis = total.shares(), total.axis
        if ends is None or not isinstance(axis, int):
            return made
        rounded = np.expm1((DIVIDE_ROUNDINGS[self.claim.divide] + 1) * self.u)
        lost = self.tiny + self.claim.eta0
        reach = np.maximum(ends[1] * (1 + rounded) - made.x, made.x - ends[0] * (1 - rounded)) + lost
        is_nearer = total.is_far_off & (reach < self.radius(made)) & ~np.isnan(made.x)
        parts = (np.abs(made.x), 1.0, reach, one_factor(made.x, reach))
        nearer = self.value(
            made.x, *(np.where(is_nearer, new, old) for new, old in zip(parts, made.parts[1:], strict=True))
        )
        missed = np.expm1(total.rounded + COMMON + rounded) + made.shape[axis] * (lost + self.tiny)
        nearer.how = ("shares", axis, np.where(total.is_far_off, missed, INF))
        return nearer

    def missing(self, a: Quantity, form: Element) -> tuple[int, Reals] | None:
        """An axis along which answers are shares, and how far the sum of those that are stored may be from one."""
        if a.how[:1] != ("shares",):
            return None
        axis, missed = a.how[1:]
        return axis, missed + (1 + missed) * form.u + a.shape[axis] * form.tiny

    # -- functions

    def function(self, name: str, a: Quantity) -> Quantity:
        """A function over the ball of its argument."""
        row = FUNCTIONS[name]
        v, R = row.doubles(a.x), self.radius(a)
        if row.course == "wave":
            off = np.minimum(R, 2.0)
        else:
            least = np.maximum(a.x - R, a.how[1]) if a.how[:1] == ("exps",) else a.x - R
            low, high = (row.doubles(np.maximum(end, row.start)) for end in (least, a.x + R))
            if a.how[:1] == ("exps",) and name in LOGARITHMS:
                least, most = (LOGARITHMS[name] * end for end in a.how[2].logarithms)
                low, high = np.fmax(low, least), np.fmin(high, most)
            off = np.maximum(np.abs(low - v), np.abs(high - v))
        off = np.where(np.isnan(off) & ~np.isnan(v), INF, off)
        if row.course == "step":
            return self.value(v, np.abs(v), 0.0, off)
        if name == "exp":
            return self._exp(a, v, off)
        model = self.claim.function(name)
        lost = model.absolute + model.a0 * self.tiny
        return self.value(v, np.abs(v) + OWN_SIZE.get(name, 0.0), model.a0, off + lost)

    def _exp(self, a: Quantity, v: Reals, off: Reals) -> Quantity:
        """e^x by 2^(x log2 e), from any shift: it errs with the size of all that the exponent is made of."""
        model = self.claim.exp
        size = np.minimum(a.parts[1], FAR)
        made = self.value(v, np.abs(v), model.a0 + (2 + model.kappa) * size, off + self.claim.eta0)
        R = a.how[1] if a.how[:1] == ("below a shift",) else self.radius(a)
        own = self.u * (model.a0 + (2 + model.kappa) * a.parts[1])
        made.how = ("exp", self._least(np.exp(a.x - R), made), Exponents(a.x, R + own, a.parts[1]))
        return made

    def _least(self, low: Reals, a: Quantity) -> Reals:
        """The least that roundings and underflow leave of a positive number."""
        count = a.parts[2]
        return np.maximum(low * np.exp(-np.minimum(count * self.u, FAR)) - count * self.tiny - self.claim.eta0, 0.0)

    def pow(self, a: Operand, b: Operand) -> Quantity:
        base, exponent = self.number(a), self.number(b)
        row, R, S = OF_TWO["pow"], self.radius(base), self.radius(exponent)
        v = row.doubles(base.x, exponent.x)
        bases = [np.where(base.x >= 0, np.maximum(base.x + side * R, 0.0), base.x + side * R) for side in (-1, 1)]
        corners = [np.abs(row.doubles(x, exponent.x + side * S) - v) for x in bases for side in (-1, 1)]
        off = np.maximum.reduce(np.broadcast_arrays(*corners))
        off = np.where(np.isnan(off) & ~np.isnan(v), INF, off)
        turn = np.minimum(
            np.abs(np.where(v != 0, np.log(np.abs(np.where(v != 0, v, 1.0))), 0.0)), FAR
        )  # by exp and log
        count = self.claim.function("pow").a0 + np.abs(exponent.x) + 2 * turn
        return self.value(v, np.abs(v), count, off + self.tiny * (self.claim.function("pow").a0 + np.abs(exponent.x)))

    def sigmoid(self, a: Quantity) -> Quantity:
        """1 / (1 + e^-x), which 0.5 + 0.5 tanh(x / 2) is as well."""
        v, R = _sigmoid(a.x), self.radius(a)
        off = np.maximum(np.abs(_sigmoid(a.x - R) - v), np.abs(_sigmoid(a.x + R) - v))
        count = self.claim.exp.a0 + DIVIDE_ROUNDINGS[self.claim.divide] + self.claim.function("tanh").a0
        turned = self.claim.exp.kappa * np.minimum(np.abs(a.x), FAR) * v * (1 - v)
        return self.value(v, v + 1.0, count + turned, off)

    # -- selection

    def max(self, a: Quantity, axis: Axes = -1) -> Quantity:
        parts = [np.broadcast_to(part, a.shape) for part in a.parts]
        if not count_along(a.shape, axis):
            return self.input(np.sum(np.zeros(a.shape), axis=axis, keepdims=True) - INF)
        v, A, K, E, _ = (np.max(part, axis=axis, keepdims=True) for part in parts)
        E = E + self._denormals_among(v, np.max(np.abs(parts[0]), axis=axis, keepdims=True))
        return self._made(v, A, K, E, one_factor(v, E))

    def _denormals_among(self, v: Reals, largest: Reals) -> Reals | float:
        """How far a maximum may be off because a comparison takes denormals for zero (docs/numerics.md#maximum)."""
        if not self.claim.ftz:
            return 0.0
        least = self.f.min_normal
        return np.where((np.abs(v) < least) & (largest > 0), 2 * least, 0.0)

    def shift(self, a: Quantity, axis: int = -1) -> Quantity:
        """It cancels, whatever a kernel takes for it: its error is none, and its size is what exponents are made of."""
        x = np.broadcast_to(a.x, a.shape)
        largest = np.max(np.abs(x), axis=axis, keepdims=True, initial=0.0, where=np.isfinite(x))
        made = self.value(self.max(a, axis).x, largest, 0.0)
        made.how = ("shift",)
        return made

    def maximum(self, a: Operand, b: Operand) -> Quantity:
        first, second = self.number(a), self.number(b)
        R, S = self.radius(first), self.radius(second)
        is_first, is_second = first.x - R > second.x + S, second.x - S > first.x + R
        v, A, K, E = (
            np.where(is_first, p, np.where(is_second, q, np.maximum(p, q)))
            for p, q in zip(first.parts[:-1], second.parts[:-1], strict=True)
        )
        E = E + self._denormals_among(v, np.maximum(np.abs(first.x), np.abs(second.x)))
        return self._made(v, A, K, E, one_factor(v, E))

    def minimum(self, a: Operand, b: Operand) -> Quantity:
        return self.neg(self.maximum(self.neg(self.number(a)), self.neg(self.number(b))))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity:
        pairs = zip(self.number(a).parts, self.number(b).parts, strict=True)
        return self._made(*(np.where(mask, p, q) for p, q in pairs))

    def take(self, a: Quantity, index: Reals, axis: int = -1) -> Quantity:
        return self._made(*(np.take_along_axis(np.broadcast_to(p, a.shape), index, axis) for p in a.parts))

    def join(self, *values: Quantity, axis: int = -1) -> Quantity:
        parts = zip(*([np.broadcast_to(part, one.shape) for part in one.parts] for one in values), strict=True)
        return self._made(*(np.concatenate(ends, axis=axis) for ends in parts))

    def keep(self, a: Quantity, name: str) -> Quantity:
        """A value that may be kept in a narrower format errs by u of itself there."""
        narrow = self.claim.narrow_format(name)
        if narrow is None:
            return a
        form, size = FORMATS[narrow], np.abs(a.x) + self.radius(a)
        lost = np.where(size > form.max, INF, form.u * size + form.tiny)
        return self.value(a.x, a.parts[1], a.parts[2], a.parts[3] + lost, a.parts[4])

    def unknown(self, why: str, *sizes: int) -> Quantity:
        return self.value(np.zeros(sizes), np.zeros(sizes), 0.0, np.full(sizes, INF))

    # -- sums

    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity:
        v, A, K, E, G = (np.broadcast_to(part, a.shape) for part in a.parts)
        many = count_along(a.shape, axis)
        terms = many * self.claim.roundings_per_addition if many > 1 else 0  # with what the sum starts at
        count = np.max(K, axis=axis, keepdims=True, initial=0.0) + terms + self._rescales(a, terms)
        v, A, E, G = (np.sum(part, axis=axis, keepdims=True) for part in (v, A, E, G))
        made = self.value(v, A, count, E, G)
        if a.how[:1] == ("exp",):  # it is positive, however far the exponents may be off
            least = self._least(np.sum(np.broadcast_to(a.how[1], a.shape), axis=axis, keepdims=True), made)
            rounded = float((terms + self._rescales(a, terms)) * self.u)
            made.how = ("exps", least, SumOfExponentials(a, axis, rounded, a.how[2]))
        return made

    def _rescales(self, a: Quantity, terms: int) -> float:
        """A sum of exponentials may be rescaled at each addition; the exponents on a term's way add up to its own."""
        return (self.claim.exp.a0 + RESCALE) * terms if a.how[:1] == ("exp",) else 0.0

    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity:
        return self.div(self.sum(a, sum, axis), self.derived_number(float(count_along(a.shape, axis))))

    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: Axes = -1) -> Quantity:
        return self.sum(self.mul(a, b), sum, axis)

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        (v, A, K, E, G), (w, B, L, F, H) = ([np.broadcast_to(p, q.shape) for p in q.parts] for q in (a, b))
        R, S = np.broadcast_to(self.own(a), a.shape), np.broadcast_to(self.own(b), b.shape)
        terms = a.shape[-1] * self.claim.roundings_per_addition
        operand = FORMATS[self.claim.operand].u / self.f.u if self.claim.operand else 0.0
        products = np.max(K, initial=0.0) + np.max(L, initial=0.0) + 1
        count = products + 4 * operand + terms + self._rescales(a, terms)
        crossed = E @ (np.abs(w) + S + F) + (np.abs(v) + R) @ F if any_of(E) or any_of(F) else np.zeros(())
        rows, columns = (np.max(size, axis=axis, keepdims=True, initial=0.0) for size, axis in ((G, -1), (H, -2)))
        grown = a.shape[-1] * rows * columns  # by row: a large number in one of them leaves the others their bounds
        made, size, off = v @ w, A @ B, crossed + self.tiny * products * grown
        for start in present(starts):
            made, size, off = made + start.x, size + start.parts[1], off + start.parts[3]
            count = max(count, float(np.max(start.parts[2], initial=0.0)) + terms) + 1
            grown = grown + start.parts[4]
        return self.value(made, size, count, off, grown)

    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: ScatterKind = "sum", sum: str = "scatter",
        axis: int = -1,
    ) -> Quantity:  # fmt: skip
        """Values added at places: each place's terms in any order. Of values that are put there it gives no bound."""
        if how != "sum":
            raise OracleError("the loosest bound does not know which of several values remains")
        at = scatter_places(index, values.shape, axis)
        sums = []
        for own, added in zip(into.parts, values.parts, strict=True):
            made = np.array(np.broadcast_to(own, into.shape))
            np.add.at(made, at, np.broadcast_to(added, values.shape))
            sums.append(made)
        terms = np.zeros(into.shape)
        np.add.at(terms, at, 1.0)
        most = max(float(np.max(into.parts[2], initial=0.0)), float(np.max(values.parts[2], initial=0.0)))
        return self.value(sums[0], sums[1], most + terms * self.claim.roundings_per_addition, *sums[3:])

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        v, A, K, E, G = (np.broadcast_to(part, a.shape) for part in a.parts)
        v, A, E, G = (np.cumsum(part, axis=-1) for part in (v, A, E, G))
        if exclusive:
            v, A, E, G = (np.concatenate([0 * p[..., :1], p[..., :-1]], axis=-1) for p in (v, A, E, G))
        return self.value(v, A, np.max(K, initial=0.0) + a.shape[-1] * self.claim.roundings_per_addition, E, G)

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        """Two passes, running means or moments: (|x| + |mean|)^2 has the terms of all."""
        mean, terms = self.mean(x, axis=axis), count_along(x.shape, axis)
        off = self.sub(x, mean)
        squares = self.dot(off, off, axis=axis)
        of_means = 2 * float(np.max(x.parts[2], initial=0.0)) + running_means(terms, self.claim)
        count = np.maximum(squares.parts[2], of_means)
        squares = self.value(squares.x, squares.parts[1], count, *squares.parts[3:])
        return mean, self.div(squares, self.derived_number(float(terms - correction)))

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        """A mean of v; one of shares, if the exponentials that are averaged may be far off."""
        total = self.sum(e)
        made = self.div(self.matmul(e, v), total)
        is_shared = self.claim.denominator == "row" and self.claim.shift != "zero" and not self.claim.shift_slack
        if e.how[:1] != ("exp",) or not is_shared or not v.shape[-2]:
            return made
        summed: SumOfExponentials = total.how[2]
        folded, once = (self._folded(summed.exponents, n) for n in (self.claim.most_rescales(e.shape[-1]), 0))
        summed = replace(summed, exponents=summed.exponents.farther(folded))
        plain = self.div(e, self._made(*total.parts))
        x, A, K, _, G = plain.parts
        shares = self._shares(self._made(x, A, K, np.full(x.shape, INF), G), summed)
        if shares.how[:1] != ("shares",):
            return made
        most, least = math.log(self.f.max), math.log(self.f.min_normal)
        raised = np.exp(np.where(folded < most, folded, np.where(once < most, once, 0.0)))
        lifted = np.exp(np.minimum(folded, -least))
        other = self._mean_of_shares(shares, v, lifted, self._rescales(e, e.shape[-1]))
        sizes = np.maximum(np.sum(np.abs(v.x), axis=-2, keepdims=True), 4.0 * v.shape[-2])
        is_certain = summed.is_far_off & (raised * sizes < self.f.max)  # else a sum that is divided last may overflow
        is_nearer = is_certain & (self.radius(other) < self.radius(made))
        nearer = self._made(*(np.where(is_nearer, *two) for two in zip(other.parts, made.parts, strict=True)))
        nearer.how = ("mean of shares", is_nearer)
        return nearer

    def _folded(self, exponents: Exponents, rescales: int) -> Reals:
        """By how much exponents of a row differ if a shift that changes is multiplied by log2 e by itself."""
        if self.claim.shift != "any":
            return np.zeros(())
        size = np.max(exponents.size, axis=-1, keepdims=True, initial=0.0)
        return np.asarray(self.u * size * (2 * rescales + 1 + 2 * LOG2_E))

    def _mean_of_shares(self, shares: Quantity, v: Quantity, lifted: Reals, rescales: float) -> Quantity:
        """Shares make up one: a mean errs with how far the v lie from their middle, and lies among them."""
        made, R, S = self.matmul(shares, v), self.radius(shares), self.radius(v)
        least, most = (end(v.x, axis=-2, keepdims=True) for end in (np.min, np.max))
        largest, missed = np.maximum(np.abs(least), np.abs(most)), shares.how[2]
        off = np.minimum(R @ np.abs(v.x - (least + most) / 2), np.maximum(most - made.x, made.x - least))
        off = np.fmin(off + missed * largest, R @ np.abs(v.x)) + (1 + missed) * np.max(S, axis=-2, keepdims=True)
        count, size = made.parts[2] + rescales, (np.abs(shares.x) + R) @ (np.abs(v.x) + S)
        lost = self.tiny * count * lifted * v.shape[-2] * np.max(one_factor(v.x, S), axis=-2, keepdims=True)
        return self.value(made.x, size, count, off + lost, made.parts[4])

    def certain(self, a: Quantity) -> Reals | None:
        """Where the bound holds even if no form says anything: of a mean of shares."""
        return a.how[1] if a.how[:1] == ("mean of shares",) else None

    def places(self, a: Quantity, names: Reals | None = None) -> Quantity:
        """From the least to the greatest name of a place whose value may be the greatest; any name beside a NaN.

        None of these where no value is rounded: how a kernel computes decides nothing there.
        """
        named = np.broadcast_to(np.arange(a.shape[-1]) if names is None else names, a.shape)
        R = self.radius(a)
        top = np.max(a.x - R, axis=-1, keepdims=True)
        may_be = (a.x + R >= top) & (named >= 0)
        least = np.min(np.where(may_be, named, INF), axis=-1, keepdims=True)
        most = np.max(np.where(may_be, named, -INF), axis=-1, keepdims=True)
        middle, half = (least + most) / 2, (most - least) / 2
        opens = np.isnan(top) | ~np.isfinite(middle)
        room = 0.5 + 2 * self.f.u * np.abs(middle)  # the ends are rounded like numbers
        is_rounded = (may_be & (R > 0)).any(axis=-1, keepdims=True) | opens
        none = np.zeros(middle.shape)
        reach = np.where(opens, INF, np.where(is_rounded, half + room, 0.0))
        return self.value(np.where(opens, 0.0, middle), none, np.where(is_rounded, 1.0, 0.0), reach)


def running_means(terms: int, claim: Accuracy) -> float:
    """The error of a sum of squares by running means joined in any order, in u of the sum of the squares of x.

    Rule R12, with a deviation from the mean and a square root of S of at most the root of that sum.
    """
    steps = terms * claim.roundings_per_addition + 1
    return MEANS * (steps + 3 * math.sqrt(8.0 * steps) + 12 * math.sqrt(terms)) + steps + 6


def one_factor(v: Reals, E: Reals) -> Reals:
    """The size of a factor behind a barrier, 1 at least."""
    return np.maximum(np.where(np.isfinite(v), np.abs(v) + E, 1.0), 1.0)


def _sigmoid(x: Reals) -> Reals:
    return np.asarray(1 / (1 + np.exp(-x)))

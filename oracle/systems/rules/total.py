"""The sets of sums, means and sums of products: rules R2 and R3 of docs/formulas.md.

Every addition that a term takes part in multiplies it by a factor within 1 +- u. So a sum lies between the sums of its
terms times e^-g and e^g, in any order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import NARROW_SUMS
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import Pair, sum_pairwise
from kfuzz.oracle.systems.exact import either_absent
from kfuzz.oracle.systems.room import NO_OVERFLOW, OPERATIONS_4096, ROUNDINGS_16384
from kfuzz.oracle.systems.rules.exp_total import exp_sum_of
from kfuzz.oracle.systems.rules.growth import Growth, accumulator, flushed_numbers, growth, is_mma, mma_sizes
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, any_along, cast_back, open_where
from kfuzz.oracle.systems.rules.partial import sum_may_overflow
from kfuzz.oracle.systems.rules.product import exact_product, larger_or_1, lost_in_sums
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def total_of(
    N: BandSystem, a: Quantity, name: str, axis: int = -1, products: int = 0, beside: Reals | float = 0.0
) -> Quantity:
    """R2: the sum of an axis in any order; `beside` is an additional error."""
    terms = present_terms(N, a, name, axis)
    if a.terms is not None and not products:
        made = exp_sum_of(N, a, name, axis)
        if made is not None:
            return made
    grown = growth(N, name, terms, products, a.terms is not None)
    lost: Any = N.E.with_room(grown.lost + beside)  # its own sums are rounded, and that with ends far below it
    if a.terms is not None:  # a rescale scales down terms that lay above their shift: docs/numerics.md#lift
        lost = lost * a.terms.lift * (a.terms.lift if N.claim.for_sum(name).rescales != 0 else 1.0)
    if terms == 1 and not products and a.terms is None and N.claim.for_sum(name).accumulate not in NARROW_SUMS:
        # adding zeros to one term changes nothing, unless an addition flushes its operands
        may_vanish = np.maximum(np.abs(a.lo), np.abs(a.hi)) < N.f.min_normal
        lost = np.where(may_vanish, lost, 0.0) if flushed_numbers(N.claim.for_sum(name)) else 0.0
        grown = Growth(0.0, 0.0, grown.is_cast)
    g: Any = grown.each if np.ndim(grown.each) == 0 or axis == -1 else grown.most
    if a.terms is not None and N.claim.for_sum(name).rescales != 0:
        g = grown.each + N.u * ROUNDINGS_16384 * a.terms.reach()  # every exponent of an online sum is rounded (R10)
    with np.errstate(all="ignore"):
        up = N.E.exp_above(g)
        down = 1 / up
        lo, hi = grow_terms(N, a, up, down)
        below, above = N.E.total(lo, hi, axis)
        positive = (a.lo >= 0).all(axis=axis, keepdims=True)
        below = np.where(positive, np.maximum(below - lost, 0.0), below - lost)
        above = above + lost
        below, above, nan = apply_special(
            N, below, above, lambda test: any_along(np.asarray(test(a), dtype=np.bool_), a.shape, axis)
        )
        size = np.maximum(np.abs(lo), np.abs(hi))
        size = sum_pairwise(np.where(N.E.is_finite(size), size, 0.0), axis) + lost
        over = size >= accumulator(N, name).max * NO_OVERFLOW
        if a.terms is not None:
            most = np.max(up, axis=axis, keepdims=True) if np.ndim(up) else up
            over = over | sum_may_overflow(N, a, below, most, name, axis, accumulator(N, name))
    made = open_where(N, below, above, nan, over, ORDER_DECIDES, "sum", a)
    made = cast_back(N, made, grown, accumulator(N, name))
    made.name, made.slack = name, np.broadcast_to(float(terms), made.shape)
    return made


def present_terms(N: BandSystem, a: Quantity, name: str, axis: int = -1) -> int:
    """How many terms the longest sum has, without those that are absent: to add a 0 rounds nothing."""
    terms = a.shape[axis]
    if a.absent is None or not a.absent.size or N.claim.for_sum(name).order is not None:
        return terms
    return max(1, terms - int(np.broadcast_to(a.absent, a.shape).sum(axis=axis).min()))


def grow_terms(N: BandSystem, a: Quantity, up: Reals, down: Reals) -> Pair:
    """Multiply each end of a sum's terms by the factor that takes it further out."""
    if N.E.eps and np.max(up) < INF:  # taking the outer of both is faster than choosing by the sign
        if a.lo is a.hi:
            less, more = a.lo * down, a.lo * up
            return np.minimum(less, more), np.maximum(less, more)
        return np.minimum(a.lo * down, a.lo * up), np.maximum(a.hi * up, a.hi * down)
    return np.where(a.lo >= 0, a.lo * down, a.lo * up), np.where(a.hi >= 0, a.hi * up, a.hi * down)


def apply_special(
    N: BandSystem, lo: Reals, hi: Reals, any_term: Callable[[Callable[[Quantity], Reals]], Reals]
) -> tuple[Reals, Reals, Reals]:
    """Apply infinities and NaN: infinities of one sign win, infinities of both signs make NaN, and so does NaN.

    `any_term` says, for each sum, whether any of its terms passes a test.
    """
    nan = any_term(lambda a: a.nan)
    if all_of(N.E.is_finite(lo)) and all_of(N.E.is_finite(hi)):
        return lo, hi, nan
    may_rise, may_fall = (
        any_term(lambda a: (a.hi == INF) & (a.lo <= a.hi)),
        any_term(lambda a: (a.lo == -INF) & (a.lo <= a.hi)),
    )
    rises, falls = (
        any_term(lambda a: (a.lo == INF) & (a.hi == INF)),
        any_term(lambda a: (a.lo == -INF) & (a.hi == -INF)),
    )
    must = (rises & falls) | any_term(lambda a: a.lo > a.hi)
    lo, hi = np.where(may_fall, -INF, lo), np.where(may_rise, INF, hi)
    lo, hi = np.where(rises & ~may_fall, INF, lo), np.where(falls & ~may_rise, -INF, hi)
    lo, hi = np.where(N.E.is_nan(lo), -INF, lo), np.where(N.E.is_nan(hi), INF, hi)
    return np.where(must, INF, lo), np.where(must, -INF, hi), nan | (may_rise & may_fall) | must


def mean_of(N: BandSystem, a: Quantity, name: str, axis: int = -1) -> Quantity:
    """R3: sum / n, sum * (1 / n) with a rounded reciprocal, or the sum of x * (1 / n), of which each may underflow."""
    n = a.shape[axis]
    s = total_of(N, a, name, axis)
    k = 0.0 if n & (n - 1) == 0 else 2.0
    if n == 1 and not N.ftz:  # nothing is rounded, and x less the mean of x alone is 0
        made = N.value(s.lo, s.hi, s.nan, "scaled", s)
    else:
        made = N.widen(s.lo / n, s.hi / n, s.nan, k, 2 * N.tiny + lost_in_sums(N, s), "scaled", s)
    made.name = name
    return made


def dot_of(N: BandSystem, a: Quantity, b: Quantity, name: str, axis: int = -1) -> Quantity:
    """The sum of products, with or without fused additions."""
    lo, hi, nan = exact_product(N, a, b)
    lo, hi = N.E.push_outward(lo, hi)
    products = Quantity(N, lo, hi, nan)
    products.absent = either_absent(a, b)
    if N.ftz:
        low = np.maximum(np.abs(lo), np.abs(hi)) < N.f.min_normal
        products.parts = (np.where(low, np.minimum(lo, 0.0), lo), np.where(low, np.maximum(hi, 0.0), hi), nan)
    lost = _lost_in_factors(N, a, b, products.shape, axis)
    if not is_mma(N, name):
        return _with_slack(N, total_of(N, products, name, axis, products=1, beside=lost), a, b, axis)
    A, B = (mma_sizes(N, np.maximum(np.abs(v.lo), np.abs(v.hi))) for v in (a, b))
    own = np.maximum(np.abs(lo), np.abs(hi))
    more = np.maximum(A * B - np.where(np.asarray(N.E.is_finite(own), dtype=np.bool_), own, 0.0), 0.0)
    size = sum_pairwise(np.broadcast_to(more, products.shape), axis)
    g = N.E.exp_above(growth(N, name, products.shape[axis], products=1).each) - 1
    made = total_of(N, products, name, axis, products=1, beside=size * g * OPERATIONS_4096 + lost)
    return _with_slack(N, made, a, b, axis)


def _lost_in_factors(N: BandSystem, a: Quantity, b: Quantity, shape: tuple[int, ...], axis: int) -> Reals | float:
    """What underflow costs if a factor of an operand is multiplied with the other operand first."""
    factors = sum(np.ndim(one.slack) > 0 for one in (a, b))
    return factors * N.tiny * sum_pairwise(np.broadcast_to(a.slack * b.slack, shape), axis) if factors else 0.0


def _with_slack(N: BandSystem, made: Quantity, a: Quantity, b: Quantity, axis: int) -> Quantity:
    shape = np.broadcast_shapes(a.shape, b.shape)
    made.slack = lambda: sum_pairwise(np.broadcast_to(larger_or_1(N, a, b), shape), axis)
    return made

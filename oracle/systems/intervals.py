"""Arithmetic of pairs of ends: the effect of rounding, underflow and overflow on an interval. Knows no claim."""

from typing import Any

import numpy as np
from flint import arb

from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.value import Quantity

INF = np.inf
ONES: dict[np.dtype[Any], Any] = {np.dtype(object): arb(1), np.dtype(np.longdouble): np.longdouble(1)}
"""1 in the ends' own arithmetic: in doubles, 1 + 2^-53 (1 + 2^-52) would be 1 + 2^-52."""


def widen_relative(lo: Reals, hi: Reals, g: float) -> Pair:
    """Widen an interval by g relative to its ends; infinities stay."""
    lo, hi = np.asarray(lo), np.asarray(hi)  # one ball is not an array
    one: Any = ONES.get(lo.dtype, 1.0)
    if lo.size and lo.min() >= 0:
        return lo * (one - g), hi * (one + g)
    if lo.dtype == object:
        less, more = one - g, one + g
        return np.where(lo >= 0, lo * less, lo * more), np.where(hi >= 0, hi * more, hi * less)
    below, above = np.asarray(np.copysign(one * g, lo)), np.asarray(np.copysign(one * g, hi))
    np.subtract(one, below, out=below)
    np.add(one, above, out=above)
    below *= lo
    above *= hi
    return below, above


def flush(lo: Reals, hi: Reals, least: float) -> Pair:
    """Allow that a denormal becomes zero, or stays (R16)."""
    lo = np.where((lo > 0) & (lo < least), 0.0, np.where((lo < 0) & (lo > -least), -least, lo))
    return lo, np.where((hi < 0) & (hi > -least), 0.0, np.where((hi > 0) & (hi < least), least, hi))


def widen_by_underflow(lo: Reals, hi: Reals, lost: Reals | float) -> Pair:
    """Widen an interval by `lost`; a nonnegative interval stays nonnegative, and an exact zero exact (R6).

    The ends in floats are those of `widen_relative`, whose room covers their share of the sum's rounding.
    """
    lo, hi = np.asarray(lo), np.asarray(hi)
    if lo.dtype != object:  # the sum with an end far below it is rounded, maybe inward
        lost = lost * (ONES.get(lo.dtype, 1.0) + 2 * float(np.finfo(lo.dtype).eps))
    if lo.size and lo.min() > 0:
        below = np.asarray(lo - lost)
        return np.maximum(below, 0.0, out=below), hi + lost
    if is_far_above(lo, hi, lost):
        return lo, hi
    below, above = np.asarray(lo - lost), np.asarray(hi + lost)
    if below.dtype == object:
        return np.where(lo >= 0, np.maximum(below, 0.0), below), np.where(hi <= 0, np.minimum(above, 0.0), above)
    for end, crosses in ((below, (lo >= 0) & (below < 0)), (above, (hi <= 0) & (above > 0))):
        if any_of(crosses):  # few do, and np.where over all elements would cost ten times as much
            end[crosses] = 0.0
    return below, above


def is_far_above(lo: Reals, hi: Reals, lost: Reals | float) -> bool:
    """Whether `lost` is too little to move any end: less than a quarter of its last place."""
    if lo.dtype != np.float64 or not lo.size or (np.shape(lost) and np.shape(lost) != lo.shape):
        return False
    least = (lost if isinstance(lost, float) else np.max(lost)) * 2.0**55
    return bool(np.abs(lo).min() > least and np.abs(hi).min() > least)


def round_overflow(lo: Reals, hi: Reals, form: Element) -> Pair:
    """Round to infinity whatever lies half a place or more beyond the greatest number."""
    most, beyond = form.max, form.max * (1 + form.u / 2)
    if not (any_of(hi >= beyond) or any_of(lo <= -beyond)):
        return lo, hi
    inside = lo <= hi
    lo, hi = np.where((lo <= -beyond) & inside, -INF, lo), np.where((hi >= beyond) & inside, INF, hi)
    return np.where((lo > most) & inside, most, lo), np.where((hi < -most) & inside, -most, hi)


def empty_where(lo: Reals, hi: Reals, must: Reals) -> Pair:
    """The empty interval where only NaN is possible."""
    if not any_of(must):
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


def square(lo: Reals, hi: Reals) -> Pair:
    if lo is hi:
        made = lo * lo
        return made, np.copy(made)
    least, most = np.minimum(np.abs(lo), np.abs(hi)), np.maximum(np.abs(lo), np.abs(hi))
    least = np.where((lo <= 0) & (hi >= 0), 0.0, least)
    return least * least, most * most


def magnitude(a: Quantity) -> Reals:
    return np.abs(a.lo) if a.lo is a.hi else np.maximum(np.abs(a.lo), np.abs(a.hi))


def product_of(sizes: list[Reals]) -> Reals:
    made = sizes[0]
    for size in sizes[1:]:
        made = made * size
    return made


def factors(a: Quantity) -> list[Quantity]:
    """The factors of a product of products; one that is repeated along an axis is still one."""
    while a.how[:1] == ("expanded",):
        a = a.how[1]
    if a.how[:1] != ("mul",):
        return [a]
    return [factor for operand in a.how[1:3] for factor in factors(operand)]


def is_power_of_two(a: Quantity) -> bool:
    """Whether a is a constant by which every product is exact."""
    if a.lo.ndim or (a.lo is not a.hi and a.lo != a.hi):
        return False
    return bool(np.frexp(abs(float(a.lo)))[0] == 0.5)


def is_zero(a: Quantity) -> Reals:
    return np.asarray((a.lo == 0) & (a.hi == 0), dtype=np.bool_)


def is_infinite(a: Quantity) -> Reals:
    return np.asarray((a.lo == a.hi) & (np.abs(a.lo) == INF), dtype=np.bool_)


def reduced_shape(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(1 if place == axis % len(shape) else size for place, size in enumerate(shape))

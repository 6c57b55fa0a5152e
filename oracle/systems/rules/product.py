"""Products, of two values or of more in any order: rule R1 of docs/formulas.md."""

import math

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems import intervals
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.exact import either_absent
from kfuzz.oracle.systems.rules.normalized import most_deviations
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def multiply(N: BandSystem, a: Quantity, b: Quantity) -> Quantity:
    """A product of two values, or of more in any order: the order matters for underflow, not for relative roundings."""
    lo, hi, nan = exact_product(N, a, b)
    if (most := most_deviations(N, a, b)) is not None:
        lo, hi = np.maximum(lo, -most), np.minimum(hi, most)
    k = 0.0 if intervals.is_power_of_two(a) or intervals.is_power_of_two(b) else 1.0
    made = N.widen(lo, hi, nan, k, N.tiny, "mul", a, b, k)
    made.absent = either_absent(a, b)
    chain = intervals.factors(made)
    if len(chain) > 2:
        return _in_any_order(N, made, chain)
    after_sum = lost_in_sums(N, a, b)
    if any_of(after_sum):
        made.parts = (*map(np.asarray, intervals.widen_by_underflow(made.lo, made.hi, after_sum)), made.nan)
    made.slack = lambda: larger_or_1(N, a, b)  # few products are asked for it
    return made


def larger_or_1(N: BandSystem, a: Quantity, b: Quantity) -> Reals:
    """The larger one of what two factors multiply an earlier loss by."""
    return size_or_1(N, a) if a is b else np.maximum(size_or_1(N, a), size_or_1(N, b))


def size_or_1(N: BandSystem, a: Quantity) -> Reals:
    """What a factor multiplies an earlier loss by; an infinity multiplies none that matters."""
    size = np.maximum(intervals.magnitude(a), 1.0)
    is_finite = N.E.is_finite(size)
    return size if all_of(is_finite) else np.where(np.asarray(is_finite, dtype=np.bool_), size, 1.0)


def lost_in_sums(N: BandSystem, *values: Quantity) -> Reals | float:
    """What underflow costs if a factor of a whole sum is multiplied with a factor of each of its terms instead."""
    lost: Reals | float = 0.0
    for one in values:
        if one.name and one.how[:1] != ("mul",) and np.ndim(one.slack):  # sums have names; products say so in `how`
            lost = lost + N.tiny * one.slack
    return lost


def exact_product(N: BandSystem, a: Quantity, b: Quantity) -> tuple[Reals, Reals, Reals]:
    """The set of the exact product: of an absent factor 0, and NaN if a kernel that multiplies it gets NaN."""
    lo, hi, nan = _product_of_sets(N, a, b)
    absent = either_absent(a, b)
    return (lo, hi, nan) if absent is None else (np.where(absent, 0.0, lo), np.where(absent, 0.0, hi), nan)


def _product_of_sets(N: BandSystem, a: Quantity, b: Quantity) -> tuple[Reals, Reals, Reals]:
    with np.errstate(all="ignore"):
        nan = a.nan | b.nan
        if a is b and not any_of(a.nan):
            return *intervals.square(a.lo, a.hi), nan
        if a.lo.size and b.lo.size and a.lo.min() >= 0 and b.lo.min() >= 0:
            lo, hi = a.lo * b.lo, a.hi * b.hi
            if all_of(N.E.is_finite(hi)) and all_of(N.E.is_finite(lo)):
                return lo, hi, nan
        ends = intervals.corners(a, b, N.is_point(a), N.is_point(b))
        if all(all_of(N.E.is_finite(end)) for end in ends):
            return intervals.least_of(ends), intervals.most_of(ends), nan
        zero_a, zero_b = (a.lo <= 0) & (a.hi >= 0), (b.lo <= 0) & (b.hi >= 0)
        inf_a, inf_b = (np.abs(a.lo) == INF) | (np.abs(a.hi) == INF), (np.abs(b.lo) == INF) | (np.abs(b.hi) == INF)
        empty = (a.lo > a.hi) | (b.lo > b.hi)
        must = (
            (intervals.is_zero(a) & intervals.is_infinite(b))
            | (intervals.is_infinite(a) & intervals.is_zero(b))
            | empty
        )
        ends = [np.where(N.E.is_nan(end), 0.0, end) for end in ends]
        lo, hi = intervals.empty_where(intervals.least_of(ends), intervals.most_of(ends), must)
        return lo, hi, nan | (((zero_a & inf_b) | (inf_a & zero_b)) & ~empty) | must


def _in_any_order(N: BandSystem, made: Quantity, chain: list[Quantity]) -> Quantity:
    """Allow for underflow and overflow of a partial product, in any order of the factors."""
    if _loses_nothing(N, made, chain):
        made.slack = lambda: (len(chain) - 1) * intervals.product_of([size_or_1(N, v) for v in chain])
        return made
    with np.errstate(all="ignore"):
        sizes = [np.maximum(intervals.magnitude(v), 1.0) for v in chain]
        sums = [v.slack for v in chain if v.name and np.ndim(v.slack)]
        most = intervals.most_of(sizes) if len(chain) == 3 and not sums else intervals.product_of([*sizes, *sums])
        if not all_of(N.E.is_finite(most)):  # a partial product with an infinity does not underflow
            most = np.where(N.E.is_finite(most), most, 1.0)
        lo, hi = intervals.widen_by_underflow(made.lo, made.hi, N.tiny * most)
        nan = made.nan
        if not math.prod(float(np.max(np.asarray(size), initial=1.0)) for size in sizes) < N.f.max:
            may_overflow = np.asarray(intervals.product_of(sizes) > N.f.max, dtype=np.bool_)
            over = may_overflow & ((made.lo < made.hi) | ((made.lo == made.hi) & N.E.is_finite(made.lo)))
            lo, hi, nan = np.where(over, -INF, lo), np.where(over, INF, hi), nan | over
            if any_of(sure := may_overflow & (made.lo == made.hi) & ~over):  # an infinity times what underflows is NaN
                nan = nan | (sure & (intervals.product_of([_least_or_1(N, v) for v in chain]) <= N.tiny))
    made.parts = (np.asarray(lo), np.asarray(hi), nan)
    made.slack = lambda: (len(chain) - 1) * intervals.product_of([size_or_1(N, v) for v in chain])
    return made


def _least_or_1(N: BandSystem, a: Quantity) -> Reals:
    """The least size of a factor, or 1 if that is larger."""
    least = np.where(a.lo > 0, a.lo, np.where(a.hi < 0, -a.hi, 0.0))
    return np.where(np.asarray(N.E.is_finite(least) & (least < 1), dtype=np.bool_), least, 1.0)


def _loses_nothing(N: BandSystem, made: Quantity, chain: list[Quantity]) -> bool:
    """Whether, by the greatest factors of all elements, no order moves an end by a quarter of its last place.

    Four passes over each factor instead of ten.
    """
    if made.lo.dtype == object or not made.lo.size or any(v.name and np.ndim(v.slack) for v in chain):
        return False
    most = math.prod(
        max(1.0, *(abs(float(x)) for end in {id(v.lo): v.lo, id(v.hi): v.hi}.values() for x in (end.min(), end.max())))
        for v in chain
    )
    return most < N.f.max and intervals.is_far_above(made.lo, made.hi, N.tiny * most)

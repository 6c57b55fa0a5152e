"""Quotients: docs/numerics.md#division."""

from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.intervals import empty_where, is_zero, magnitude
from kfuzz.oracle.systems.rules.product import exact_product, lost_in_sums
from kfuzz.oracle.systems.rules.shift import scale_of
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def divide(N: BandSystem, a: Quantity, b: Quantity, k: float) -> Quantity:
    """The set of a / b, computed with k roundings."""
    with np.errstate(all="ignore"):
        lo, hi = _inverse(N, b)
        inverse = Quantity(N, lo, hi, b.nan)
        lo, hi, nan = exact_product(N, a, inverse)
        must = is_zero(a) & is_zero(b)
        if any_of(must):
            lo, hi = empty_where(lo, hi, must)
    lost: Any = N.tiny if N.ftz else max(k, 1) * N.tiny  # a result is flushed only once
    if N.claim.divide != "ieee":
        if "reciprocal" in N.claim.divide:  # 1 / b may underflow before it is multiplied
            is_small = N.E.eps and a.lo.size and np.min(a.lo) >= -1 and np.max(a.hi) <= 1
            if not is_small:
                size = magnitude(a)
                lost = lost * np.maximum(np.where(N.E.is_finite(size), size, 1.0), 1.0)
        leaves = may_leave_division(N, b) & (lo <= hi)
        if any_of(leaves):
            why = Why.DIVIDED if b.terms is None else Why.DIVIDED_SUM
            rows = may_leave_division(N, b)
            N.note(Reason(why, about=N.claim.divide), rows)
            lo, hi, nan = np.where(leaves, -INF, lo), np.where(leaves, INF, hi), nan | leaves
    return N.widen(lo, hi, nan | must, k, lost + lost_in_sums(N, a), "div", a, b, k)


def may_leave_division(N: BandSystem, b: Quantity) -> Reals:
    """Where a divisor may lie outside [2^-126, 2^126], so that only IEEE division has the claimed accuracy.

    1 / b is then denormal or infinite, and __fdividef gives 0. A divisor that is certain to overflow is the kernel's
    fault, and is judged. docs/numerics.md#division
    """
    least, most = (np.asarray(end, dtype=np.float64) for end in (b.lo, b.hi))
    end, last = 2.0 ** (N.f.bias - 1), 2.0 ** min(N.f.bias + 1, 1023)
    low, high = scale_of(N, b)
    with np.errstate(all="ignore"):
        least, most = least * low, most * high
    positive = least > 0
    small = (least > 0) & (least < 1 / end) | (least <= 0) & (most >= 0) & (least < most)
    return np.asarray(small | (np.maximum(most, -least) > end) & ~((least > last) & positive))


def may_be_negative_zero(N: BandSystem, b: Quantity) -> Reals:
    """Where a set begins at a zero that may be -0, whose inverse is -inf; a sum of exponentials never is.

    Balls have no signed zero, so that they certify nothing there.
    """
    if b.terms is not None:
        return np.zeros((), dtype=np.bool_)
    zero = np.asarray(b.lo == 0, dtype=np.bool_)
    return zero if not N.E.eps else zero & np.signbit(b.lo)


def _inverse(N: BandSystem, b: Quantity) -> Pair:
    """[1 / hi, 1 / lo]; the inverse of a zero at the lower end of a nonnegative set is +inf."""
    one = N.E.convert(np.asarray(1.0))
    zero = (b.lo <= 0) & (b.hi >= 0)
    if not any_of(zero) and all_of(N.E.is_finite(b.lo)) and all_of(N.E.is_finite(b.hi)):
        return (one / b.hi, one / b.lo) if N.E.eps else N.E.push_outward(one / b.hi, one / b.lo)
    safe_lo, safe_hi = (np.where((end == 0) | (np.abs(end) == INF), one, end) for end in (b.lo, b.hi))
    lo, hi = N.E.push_outward(one / safe_hi, one / safe_lo)
    lo, hi = np.where(np.abs(b.hi) == INF, 0.0, lo), np.where(np.abs(b.lo) == INF, 0.0, hi)
    positive = b.lo >= 0
    lo = np.where(zero, np.where(positive & (b.hi > 0), lo, np.where(positive, INF, -INF)), lo)
    hi = np.where(zero, INF, hi)
    if any_of(negative := may_be_negative_zero(N, b)):
        lo = np.where(negative, -INF, lo)
    return empty_where(lo, hi, b.lo > b.hi)

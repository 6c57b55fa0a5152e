"""Functions of two values, a^b and the angle of (x, y): docs/numerics.md#powers and docs/numerics.md#angles."""

import math

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.intervals import empty_where, least_of, most_of, round_overflow, widen_by_underflow
from kfuzz.oracle.systems.room import ROUNDINGS_256
from kfuzz.oracle.systems.value import Quantity

INF = np.inf
DIVISION = 5
"""The roundings of the one quotient in 1 / x^n, at most: docs/numerics.md#division."""


def power(N: BandSystem, a: Quantity, b: Quantity) -> Quantity:
    """a^b, by powf, or by multiplication if b is a known integer; NaN below zero unless b is an integer."""
    with np.errstate(all="ignore"):
        exponent = np.asarray(b.lo, dtype=np.float64)
        is_whole = np.asarray((b.lo == b.hi) & (exponent == np.rint(exponent)) & np.isfinite(exponent))
        lo, hi = _of_nonnegative(N, a.lo, a.hi, b)
        is_below = (a.lo < 0) & (a.lo <= a.hi)
        nan = (a.nan & ~(is_whole & (exponent == 0))) | b.nan
        if any_of(is_below):
            lo, hi = _with_negative(N, a, b, (lo, hi), is_whole, exponent)
            nan = nan | (is_below & ~is_whole)
        may_be_one = b.nan & (a.lo <= 1) & (a.hi >= 1)  # 1^NaN is 1
        is_one = is_whole & (exponent == 0)
        lo, hi = (
            np.where(is_one, 1.0, np.where(may_be_one, pick(end, 1.0), end))
            for pick, end in ((np.fmin, lo), (np.fmax, hi))
        )
        lo, hi = _with_errors(N, lo, hi, is_whole, exponent)
    return N.value(lo, hi, nan, "pow", a, b)


def _of_nonnegative(N: BandSystem, lo: Reals, hi: Reals, b: Quantity) -> Pair:
    """The set of a^b for those a in [lo, hi] that are not negative; empty if there are none."""
    zero = N.E.convert(np.zeros(()))
    low, high = np.maximum(lo, zero), np.maximum(hi, zero)
    # for a fixed b it is monotone in a, and for a fixed a in b: the extremes lie at the corners
    ends = [N.E.of_two("pow", x, y) for x in (low, high) for y in (b.lo, b.hi)]
    below, above = least_of([end[0] for end in ends]), most_of([end[1] for end in ends])
    return empty_where(below, above, (lo > hi) | (hi < 0) | (b.lo > b.hi))


def _with_negative(N: BandSystem, a: Quantity, b: Quantity, known: Pair, is_whole: Reals, exponent: Reals) -> Pair:
    """The same with the negative ones: (-a)^b with a sign if b is an integer; anything if b is not known."""
    lo, hi = known
    below, above = _of_nonnegative(N, np.maximum(-a.hi, -a.hi * 0), -a.lo, b)
    is_odd = is_whole & (np.fmod(exponent, 2) != 0)
    below, above = np.where(is_odd, -above, below), np.where(is_odd, -below, above)
    is_below = (a.lo < 0) & (a.lo <= a.hi)
    is_open = is_below & (b.lo != b.hi)
    lo = np.where(is_below & is_whole, np.minimum(lo, below), lo)
    hi = np.where(is_below & is_whole, np.maximum(hi, above), hi)
    is_infinite = is_below & ~is_whole & (a.lo == -INF)  # (-inf)^0.5 is inf
    lo, hi = (
        np.where(is_open, -INF, np.where(is_infinite, np.minimum(lo, 0.0), lo)),
        np.where(is_open | is_infinite, INF, hi),
    )
    return lo, hi


def _with_errors(N: BandSystem, lo: Reals, hi: Reals, is_whole: Reals, exponent: Reals) -> Pair:
    """The error of powf, or of |b| - 1 products and perhaps a quotient, whichever is larger."""
    model = N.claim.function("pow")
    size = np.abs(np.where(is_whole, exponent, 0.0))
    is_inverse = is_whole & (exponent < 0)
    k = np.maximum(model.a0, size + DIVISION * is_inverse)
    g = np.minimum(k * N.u * ROUNDINGS_256, 1.0)
    lo, hi = lo - np.abs(lo) * g, hi + np.abs(hi) * g
    lo, hi = widen_by_underflow(lo, hi, np.where(is_inverse, 2 / N.f.max, k * N.tiny) + model.absolute)
    if any_of(is_inverse):  # x^n may be denormal before it is inverted
        lost = np.where(is_inverse, k * N.tiny, 0.0)
        below, above = (
            np.where(lost * np.abs(end) < 0.5, end * (1 + 2 * lost * np.abs(end)), np.sign(end) * INF)
            for end in (lo, hi)
        )
        lo, hi = np.minimum(lo, below), np.maximum(hi, above)
    lo, hi = np.where(N.E.is_nan(lo), -INF, lo), np.where(N.E.is_nan(hi), INF, hi)
    return round_overflow(lo, hi, N.f)


def angle(N: BandSystem, y: Quantity, x: Quantity) -> Quantity:
    """atan2(y, x); on the negative axis the sign of y's zero decides, so that either end is right there."""
    model = N.claim.function("atan2")
    with np.errstate(all="ignore"):
        ends = [N.E.of_two("atan2", v, h) for v in (y.lo, y.hi) for h in (x.lo, x.hi)]
        lo, hi = least_of([end[0] for end in ends]), most_of([end[1] for end in ends])
        is_cut = (y.lo <= 0) & (y.hi >= 0) & (x.lo <= 0)
        pi = math.nextafter(math.pi, 4)
        lo, hi = np.where(is_cut, -pi, lo), np.where(is_cut, pi, hi)
        g = model.a0 * N.u * ROUNDINGS_256
        lo, hi = lo - np.abs(lo) * g, hi + np.abs(hi) * g
        lo, hi = widen_by_underflow(lo, hi, model.a0 * N.tiny + model.absolute)
        lo, hi = empty_where(lo, hi, (y.lo > y.hi) | (x.lo > x.hi))
    return N.value(lo, hi, y.nan | x.nan, "atan2", y, x)

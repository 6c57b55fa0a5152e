"""Functions of one value, each with the error that its model allows: docs/numerics.md#measured-functions."""

import numpy as np

from kfuzz.oracle.accuracy.functions import FUNCTIONS, FunctionOfOne
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.intervals import empty_where, round_overflow, widen_by_underflow, widen_relative
from kfuzz.oracle.systems.room import ROUNDINGS_256
from kfuzz.oracle.systems.rules.division import may_be_negative_zero
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def function(N: BandSystem, name: str, a: Quantity) -> Quantity:
    """A function of a set: f(t) (1 +- k u) +- the absolute error of its model and of underflow."""
    row = FUNCTIONS[name]
    if row.start > -INF:
        return _above_start(N, row, a)
    if row.course == "wave":
        return _wave(N, row, a)
    return _over(N, row, a)


def _over(N: BandSystem, row: FunctionOfOne, a: Quantity) -> Quantity:
    """The function of a set that lies in its domain."""
    with np.errstate(all="ignore"):
        lo, hi = N.E.function(row.name, a.lo, a.hi)
        lo, hi = np.where(N.E.is_nan(lo), -INF, lo), np.where(N.E.is_nan(hi), INF, hi)
        if row.course != "step":
            lo, hi = _open_beyond(N, row, a, *_with_errors(N, row, lo, hi))
        lo, hi = empty_where(lo, hi, a.lo > a.hi)
    return N.value(lo, hi, a.nan, row.name, a)


def _with_errors(N: BandSystem, row: FunctionOfOne, lo: Reals, hi: Reals) -> Pair:
    model = N.claim.function(row.name)
    lo, hi = widen_relative(lo, hi, model.a0 * N.u * ROUNDINGS_256)
    lo, hi = widen_by_underflow(lo, hi, model.a0 * N.tiny)
    if model.absolute:
        lo, hi = lo - model.absolute, hi + model.absolute
    if row.at_ends[1] == INF:
        lo, hi = round_overflow(lo, hi, N.f)
    return np.maximum(lo, row.least), np.minimum(hi, row.most)


def _open_beyond(N: BandSystem, row: FunctionOfOne, a: Quantity, lo: Reals, hi: Reals) -> Pair:
    """Allow any number where the model says nothing of the argument."""
    within = N.claim.function(row.name).within
    if within == INF or not any_of(is_beyond := ((a.hi > within) | (a.lo < -within)) & (a.lo <= a.hi)):
        return lo, hi
    N.note(Reason(Why.BEYOND_MODEL, about=f"{row.name} beyond {within:.4g}"), is_beyond)
    return np.where(is_beyond, -INF, lo), np.where(is_beyond, INF, hi)


def _wave(N: BandSystem, row: FunctionOfOne, a: Quantity) -> Quantity:
    """A sine, which is NaN at an infinity."""
    is_infinite = (np.abs(a.lo) == INF) & (a.lo == a.hi)
    may_be = ((a.lo == -INF) | (a.hi == INF)) & (a.lo <= a.hi)
    made = _over(N, row, a)
    if any_of(may_be):
        lo, hi = empty_where(made.lo, made.hi, is_infinite)
        return N.value(lo, hi, a.nan | may_be, row.name, a)
    return made


def _above_start(N: BandSystem, row: FunctionOfOne, a: Quantity) -> Quantity:
    """A function that is NaN below the start of its domain."""
    crosses = (a.lo < 0) & (a.hi >= 0)  # such as a denormal that may be read as -0
    if row.name == "rsqrt" and any_of(negative := may_be_negative_zero(N, a) | crosses):  # 1 / sqrt(-0) is -inf
        made = _inside_domain(N, row, Quantity(N, a.lo + 0.0, a.hi + 0.0, a.nan))
        return N.value(np.where(negative, -INF, made.lo), np.where(negative, INF, made.hi), made.nan, row.name, a)
    made = _inside_domain(N, row, a)
    made.how = (row.name, a)
    return made


def _inside_domain(N: BandSystem, row: FunctionOfOne, a: Quantity) -> Quantity:
    below = (a.lo < row.start) & (a.lo <= a.hi)
    if not any_of(below):
        return _over(N, row, a)
    start, must = N.E.convert(np.asarray(row.start)), a.hi < row.start
    lo, hi = np.where(below, np.where(must, INF, start), a.lo), np.where(must, -INF, a.hi)
    return _over(N, row, Quantity(N, lo, hi, a.nan | below))

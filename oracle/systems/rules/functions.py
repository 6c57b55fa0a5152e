"""Functions of one value, each with the error that its model allows: docs/numerics.md#measured-functions."""

import numpy as np

from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.intervals import empty_where, widen_by_underflow, widen_relative
from kfuzz.oracle.systems.room import ROUNDINGS_256
from kfuzz.oracle.systems.rules.division import may_be_negative_zero
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def function(N: BandSystem, name: str, a: Quantity, least: float = -INF, most: float = INF) -> Quantity:
    """A monotone function of a set: f(t) (1 +- k u) +- the absolute error of its model and of underflow."""
    model = N.claim.function(name)
    with np.errstate(all="ignore"):
        lo, hi = N.E.function(name, a.lo, a.hi)
        lo, hi = np.where(N.E.is_nan(lo), -INF, lo), np.where(N.E.is_nan(hi), INF, hi)
        g = model.a0 * N.u * ROUNDINGS_256
        lo, hi = widen_relative(lo, hi, g)
        lo, hi = widen_by_underflow(lo, hi, model.a0 * N.tiny)
        if model.absolute:
            lo, hi = lo - model.absolute, hi + model.absolute
        lo, hi = np.maximum(lo, least), np.minimum(hi, most)
        lo, hi = empty_where(lo, hi, a.lo > a.hi)
    return N.value(lo, hi, a.nan, name, a)


def function_over_positive(N: BandSystem, name: str, a: Quantity, least: float = -INF) -> Quantity:
    """A function that is NaN below zero."""
    below = (a.lo < 0) & (a.lo <= a.hi)
    if name == "rsqrt" and np.any(negative := may_be_negative_zero(N, a)):  # 1 / sqrt(-0) is -inf
        zero = N.E.convert(np.zeros(()))
        made = function_over_positive(N, name, Quantity(N, np.where(negative, zero, a.lo), a.hi + zero, a.nan), least)
        return N.value(np.where(negative, -INF, made.lo), np.where(negative, INF, made.hi), made.nan, name, a)
    if not np.any(below):
        return function(N, name, a, least)
    zero = N.E.convert(np.zeros(()))
    must = a.hi < 0
    inside = Quantity(N, np.where(below, np.where(must, INF, zero), a.lo), np.where(must, -INF, a.hi), a.nan | below)
    made = function(N, name, inside, least)
    made.how = (name, a)
    return made

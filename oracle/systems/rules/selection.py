"""Selections, which round nothing: maxima, masks and elements at an index."""

from collections.abc import Callable, Sequence

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.intervals import reduced_shape
from kfuzz.oracle.systems.rules.opening import any_along
from kfuzz.oracle.systems.value import Operand, Quantity

INF = np.inf


def max_along(N: BandSystem, a: Quantity, axis: int = -1) -> Quantity:
    if not a.shape[axis]:
        nothing = N.E.convert(np.full(reduced_shape(a.shape, axis), -INF))
        return N.value(nothing, nothing)
    nan = any_along(a.nan, a.shape, axis)
    lo, hi = np.maximum.reduce(a.lo, axis=axis, keepdims=True), np.maximum.reduce(a.hi, axis=axis, keepdims=True)
    if any_of(nan):
        must = any_along(a.lo > a.hi, a.shape, axis)
        end = INF if N.special.nan == "propagate" else -INF  # NaN alone, or any number
        lo, hi = np.where(must, end, lo), np.where(must, -end, hi)
    if N.ftz:
        lo = with_denormals(N, lo, np.minimum.reduce(negative_denormals(N, a.lo), axis=axis, keepdims=True))
    return N.value(lo, hi, nan)


def negative_denormals(N: BandSystem, lo: Reals) -> Reals:
    """The lower ends that a comparison takes for zero, where denormals are flushed; 0 in the place of all others."""
    return np.where((lo < 0) & (lo > -N.f.min_normal), lo, 0.0)


def with_denormals(N: BandSystem, lo: Reals, lowest: Reals) -> Reals:
    """The lower end of a maximum: if a comparison takes it for zero, any denormal may be chosen, down to the lowest.

    A selection leaves its bits alone (docs/numerics.md#maximum).
    """
    chosen = (lo > -N.f.min_normal) & (lo < N.f.min_normal) & (lowest < lo)
    return np.where(chosen, lowest, lo) if any_of(chosen) else lo


def greater_of(N: BandSystem, a: Operand, b: Operand) -> Quantity:
    """The greater of two; of NaN and a number either one, since fmaxf drops the NaN and a comparison may keep it.

    Where a claim says that maxima propagate NaN, the number is wrong.
    """
    a, b = N.number(a), N.number(b)
    lo = np.maximum(a.lo, b.lo)
    hi = lo if a.lo is a.hi and b.lo is b.hi else np.maximum(a.hi, b.hi)
    nan = a.nan | b.nan
    if N.ftz:
        lo = with_denormals(N, lo, np.minimum(negative_denormals(N, a.lo), negative_denormals(N, b.lo)))
    if not any_of(nan):
        return N.value(lo, hi)
    if N.special.nan == "propagate":
        must = (a.lo > a.hi) | (b.lo > b.hi)
        return N.value(np.where(must, INF, lo), np.where(must, -INF, hi), nan)
    lo = np.where(a.nan, np.minimum(lo, b.lo), lo)  # the lower end of an empty set is inf, which stays above
    hi = np.where(a.nan, np.maximum(hi, b.hi), hi)
    return N.value(np.where(b.nan, np.minimum(lo, a.lo), lo), np.where(b.nan, np.maximum(hi, a.hi), hi), nan)


def choose(N: BandSystem, mask: Reals, a: Operand, b: Operand) -> Quantity:
    a, b = (v if isinstance(v, Quantity) else N.input(np.asarray(v)) for v in (a, b))
    same = a.lo is a.hi and b.lo is b.hi
    lo = np.where(mask, a.lo, b.lo)
    made = N.value(lo, lo if same else np.where(mask, a.hi, b.hi), np.where(mask, a.nan, b.nan), "where", a, b)
    made.is_point = N.is_point(a) and N.is_point(b)
    return made


def take_along(N: BandSystem, a: Quantity, index: Reals, axis: int = -1) -> Quantity:
    parts = [np.take_along_axis(np.broadcast_to(part, a.shape), index, axis) for part in (a.lo, a.hi, a.nan)]
    made = N.value(parts[0], parts[0] if a.lo is a.hi else parts[1], parts[2])
    made.is_point = N.is_point(a)
    return made


def join_along(N: BandSystem, values: Sequence[Quantity], axis: int = -1) -> Quantity:
    """Concatenate values along an axis."""

    def joined(ends: Callable[[Quantity], Reals]) -> Reals:
        return np.concatenate([np.broadcast_to(ends(one), one.shape) for one in values], axis=axis)

    lo = joined(lambda one: one.lo)
    hi = lo if all(one.lo is one.hi for one in values) else joined(lambda one: one.hi)
    nan = joined(lambda one: one.nan) if any(any_of(one.nan) for one in values) else False
    made = N.value(lo, hi, nan, "join", *values)
    made.is_point = all(N.is_point(one) for one in values)
    return made

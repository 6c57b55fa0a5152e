"""The place of a maximum: rule R20 of docs/formulas.md. The right answers are a set of places, not an interval."""

from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.rules.opening import any_along
from kfuzz.oracle.systems.value import Quantity


@dataclass(frozen=True)
class PlaceSet:
    """Which places along the last axis are right, and the name by which an answer calls each."""

    right: Reals
    names: Reals

    def holds(self, got: Reals) -> Reals:
        """Whether each answer names a right place."""
        return np.asarray((self.right & (self.names == got.reshape(*self.right.shape[:-1], 1))).any(axis=-1))


def places_of_maximum(N: BandSystem, a: Quantity, names: Reals | None) -> Quantity:
    """R20: every place whose value may be the greatest, but none whose name is negative.

    Of equal ones a claim may mean the first or the last. Where it says that maxima propagate NaN, a NaN is greatest.
    """
    count = a.shape[-1]
    nan = any_along(a.nan, a.shape, -1)
    named = np.broadcast_to(np.arange(count) if names is None else names, a.shape)
    top = np.maximum.reduce(np.broadcast_to(a.lo, a.shape), axis=-1, keepdims=True)
    right = np.broadcast_to(np.asarray(a.hi >= top, dtype=np.bool_), a.shape) & (named >= 0)
    if N.special.ties != "any":
        right = right & _is_before_its_equals(a, named, N.special.ties == "last")
    if N.special.nan == "propagate" and any_of(must := np.asarray(a.lo > a.hi, dtype=np.bool_) & (named >= 0)):
        is_lost = any_along(must, a.shape, -1)
        right, nan = np.where(is_lost, must, right), nan & ~is_lost
    far = np.where(right, named, named.max(initial=0) + 1)
    lo = np.asarray(far.min(axis=-1, keepdims=True), dtype=np.float64)
    hi = np.asarray(np.where(right, named, -1).max(axis=-1, keepdims=True), dtype=np.float64)
    if any_of(nan):
        lo, hi = np.where(nan, -np.inf, lo), np.where(nan, np.inf, hi)
    return N.value(N.E.convert(lo), N.E.convert(hi), nan, "places", PlaceSet(right, named), a)


def _is_before_its_equals(a: Quantity, named: Reals, from_end: bool) -> Reals:
    """Where a value may be greater than all whose names come before its own; places without a name do not count."""
    order = np.argsort(-named if from_end else named, axis=-1, kind="stable")
    lo, hi, known = (np.take_along_axis(np.broadcast_to(one, a.shape), order, -1) for one in (a.lo, a.hi, named >= 0))
    reached = np.maximum.accumulate(np.where(known, lo, -np.inf), axis=-1)
    is_first = ~np.logical_or.accumulate(known, axis=-1)[..., :-1]
    later = np.asarray(hi[..., 1:] > reached[..., :-1], dtype=np.bool_) | is_first
    made = np.ones(a.shape, dtype=np.bool_)
    np.put_along_axis(made, order[..., 1:], later, -1)
    return made

"""The shift that is subtracted inside an exp: rule R10 of docs/formulas.md."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.rules.opening import any_along
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


@dataclass(frozen=True)
class Terms:
    """Exponentials relative to a shift; the shift that a kernel subtracts may be `slop` away from it.

    `reach()`: how large the exponents may be, which is rarely needed; `lift`: e^slop; `is_direct`: exponentials of
    inputs; `plain`: rows with a finite maximum.
    """

    x: Quantity
    reach: Callable[[], Reals]
    slop: Reals | float
    lift: Reals | float
    is_direct: bool
    plain: Reals
    top: Quantity


def shift(N: BandSystem, a: Quantity, axis: int = -1) -> Quantity:
    """R10: a shift cancels, so any point will do: the maximum of the middles. A kernel's is at most `slop` away."""
    if not a.shape[axis]:
        return N.max(a, axis)
    nan = any_along(a.nan, a.shape, axis)
    with np.errstate(all="ignore"):
        middle = a.lo if N.is_point(a) else np.where(np.asarray(a.lo == a.hi, dtype=np.bool_), a.lo, (a.lo + a.hi) / 2)
        top = np.maximum.reduce(middle, axis=axis, keepdims=True)
        slop: Any = 0.0
        if not N.is_point(a):
            highest, lowest = (np.maximum.reduce(end, axis=axis, keepdims=True) for end in (a.hi, a.lo))
            off = np.maximum(highest - top, top - lowest)
            slop = np.where(N.E.is_finite(off), off, np.where(np.asarray(np.abs(top) == INF, dtype=np.bool_), 0.0, INF))
    empty = np.asarray(top == -INF, dtype=np.bool_) & ~nan
    if any_of(empty):
        N.masked.append(empty)
    if N.special.all_neg_inf == "zero" and any_of(empty):
        top = np.where(empty, N.E.convert(np.zeros(())), top)
    if N.is_silent:  # a reference does not say what is right where there is nothing
        nan = nan | empty
    made = N.value(top, top, nan, "shift", a, slop, axis)
    if any_of(nan):
        made.parts = (np.where(nan, -INF, top), np.where(nan, INF, top), nan)
    return made


def scale_of(N: BandSystem, s: Quantity) -> tuple[Reals | float, Reals | float]:
    """The least and the greatest factor from a sum of exponentials to the sum that a kernel stores."""
    if s.terms is None:
        return 1.0, 1.0
    with np.errstate(all="ignore"):
        if N.claim.shift == "zero":
            top = np.exp(np.asarray(s.terms.top.lo, dtype=np.float64))
            return top, top
        lift = np.asarray(s.terms.lift, dtype=np.float64)
        return 1 / lift, lift

"""Opens sets to everything where a rule cannot say what is right, with the reason."""

from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.rules.growth import Growth
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


ORDER_DECIDES = Reason(Why.ORDER_DECIDES)


def open_where(
    N: BandSystem,
    lo: Reals,
    hi: Reals,
    nan: Reals | bool,
    where: Reals,
    reason: Reason,
    *how: Any,  # noqa: ANN401  operands of any kind
) -> Quantity:
    """Make a set, opened to everything where no rule applies; `where` may be smaller than the set."""
    if np.shape(where) != lo.shape:
        where = np.broadcast_to(where, np.broadcast_shapes(np.shape(where), lo.shape))
    where = np.asarray(where, dtype=np.bool_) & ~np.asarray(lo > hi, dtype=np.bool_)
    if any_of(where):
        N.note(reason, where)
        lo, hi = np.where(where, -INF, lo), np.where(where, INF, hi)
        nan = np.asarray(nan) | where
    return N.value(lo, hi, nan, *how)


def any_along(mask: Reals, shape: tuple[int, ...], axis: int) -> Reals:
    """Whether any element along an axis is true; the axis stays, with one element."""
    if not any_of(mask):
        return np.zeros((), dtype=np.bool_)
    return np.asarray(np.broadcast_to(mask, shape).any(axis=axis, keepdims=True))


def odd_elements(N: BandSystem, a: Quantity) -> Reals:
    """The elements that are not certainly finite."""
    return np.asarray(~(N.E.is_finite(a.lo) & N.E.is_finite(a.hi)) | a.nan, dtype=np.bool_)


def cast_back(N: BandSystem, a: Quantity, grown: Growth, held: Element) -> Quantity:
    """Round a sum in double once, to the working format."""
    if not grown.is_cast or held is N.f:
        return a
    return N.round_once(a.lo, a.hi, a.nan, "rounded", a)


def as_numbers(mask: Reals) -> Reals:
    return np.asarray(mask, dtype=np.float64)

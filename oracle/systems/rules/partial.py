"""The largest partial sums of exponentials, at the scale at which a kernel stores them: docs/numerics.md#overflow."""

import numpy as np

from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import sum_pairwise
from kfuzz.oracle.systems.room import NO_OVERFLOW_OF_WEIGHTS
from kfuzz.oracle.systems.rules.shift import scale_of
from kfuzz.oracle.systems.value import Quantity


def is_rescaled(N: BandSystem, name: str) -> bool:
    """Whether this sum may be relative to a smaller shift on its way than at its end."""
    return N.claim.for_sum(name).rescales != 0 and N.claim.shift != "zero"


def largest_weights(N: BandSystem, e: Quantity, name: str | None) -> Reals:
    """The most that each exponential may be in a partial sum of this name, or at its end if there is no name.

    A term has its final weight e^-d only at the end. Before the maximum arrives, the shift may be the term itself, and
    its weight 1, however small it becomes. A term of -inf has no weight at any time.
    """
    hi = np.maximum(e.hi, 0.0)
    if e.terms is None:
        return np.asarray(hi)
    if name is not None and is_rescaled(N, name):
        hi = np.where(np.asarray(hi > 0, dtype=np.bool_), np.maximum(hi, 1.0), 0.0)
    return np.asarray(hi * scale_of(N, e)[1])


def products_may_overflow(weights: Reals, size: Reals, growth: Reals, held: Element) -> Reals:
    """Where a partial sum of weights times sizes, each a term of its own, may overflow."""
    most = held.max * NO_OVERFLOW_OF_WEIGHTS
    with np.errstate(all="ignore"):
        if all_of(np.max(weights, initial=0.0) * np.max(sum_pairwise(size, -2), initial=0.0) * growth < most):
            return np.zeros((), dtype=np.bool_)  # as nearly always, and much faster than the product of matrices
        return np.asarray(~(weights @ size * growth < most), dtype=np.bool_)


def sum_may_overflow(
    N: BandSystem, e: Quantity, least: Reals, growth: Reals, name: str, axis: int, held: Element
) -> Reals:
    """Where a sum of exponentials, or a partial sum of it, may overflow and the sum itself need not.

    `least`: the least that the whole sum may be, at the scale of e.
    """
    most = min(held.max, N.f.max) * NO_OVERFLOW_OF_WEIGHTS
    high = scale_of(N, e)[1]
    with np.errstate(all="ignore"):
        if all_of(np.max(e.hi, initial=1.0) * e.shape[axis] * growth * np.asarray(high) < most):
            return np.zeros((), dtype=np.bool_)
        partial = sum_pairwise(largest_weights(N, e, name), axis) * growth
        return np.asarray(~(partial < most), dtype=np.bool_) & ~sum_must_overflow(N, e, least)


def sum_must_overflow(N: BandSystem, e: Quantity, least: Reals) -> Reals:
    """Where the sum is certain to overflow: the kernel's own fault, which is judged (docs/numerics.md#division)."""
    with np.errstate(all="ignore"):
        return np.asarray(least * scale_of(N, e)[0] > N.f.max, dtype=np.bool_)

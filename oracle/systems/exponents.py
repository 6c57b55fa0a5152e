"""Exponentials of one row whose exponents are large: what their own errors leave certain of quotients and logarithms.

Where an exponent is made of large numbers, an exponential may be off by any factor, and its sum with it. But the sum is
made of the same exponentials: docs/numerics.md#exponentials-that-are-shared.
"""

from dataclasses import dataclass, replace

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.value import Axes, Quantity

FAR_OFF = 2.0**-10
"""docs/numerics.md#exponentials-that-are-shared: how far off an exponent must be for its row to be bounded this way."""
COMMON = 2.0**-6
"""docs/numerics.md#exponentials-that-are-shared: by how much of itself a row may be off as a whole, if its sum was made
of other exponentials than its answers: eight units of bfloat16."""


@dataclass(frozen=True)
class Exponents:
    """The logarithm of each exponential from one shift of its row, and how far that of a computed one may be off.

    `size`: of all that the exponent is made of.
    """

    x: Reals
    off: Reals
    size: Reals

    def farther(self, by: Reals) -> "Exponents":
        """The same ones, where each may be off by more."""
        return replace(self, off=self.off + by)

    def least(self, axis: Axes) -> Reals:
        """The logarithm of the least sum."""
        return log_sum(self.x - self.off, axis)

    def most(self, axis: Axes) -> Reals:
        """The logarithm of the greatest sum."""
        return log_sum(self.x + self.off, axis)


@dataclass(frozen=True)
class SumOfExponentials:
    """A sum over an axis of the exponentials of `terms`, and its own roundings, relative to it."""

    terms: Quantity
    axis: Axes
    rounded: float
    exponents: Exponents

    @property
    def logarithms(self) -> tuple[Reals, Reals]:
        """The least and the greatest logarithm of the sum."""
        lo, hi = self.exponents.least(self.axis), self.exponents.most(self.axis)
        return np.where(np.isnan(lo), -np.inf, lo) - self.rounded, np.where(np.isnan(hi), np.inf, hi) + self.rounded

    @property
    def is_far_off(self) -> Reals:
        """The rows of which an exponent may be far off, and none may overflow."""
        off = np.where(np.isfinite(self.exponents.x), self.exponents.off, 0.0)
        most = np.max(off, axis=self.axis, keepdims=True, initial=0.0)
        return np.asarray((most > FAR_OFF) & (most < np.inf))

    def shares(self) -> tuple[Reals, Reals] | None:
        """The least and the greatest share of each term in the sum; None if no row is far off, or of several axes."""
        if not isinstance(self.axis, int) or not any_of(self.is_far_off):
            return None
        x, off = (np.broadcast_to(part, self.terms.shape) for part in (self.exponents.x, self.exponents.off))
        with np.errstate(all="ignore"):
            least, most = (log_sum_of_others(x + side * off, self.axis) - (x - side * off) for side in (-1, 1))
            lo, hi = 1 / (1 + np.exp(most)), 1 / (1 + np.exp(least))
        common = self.rounded + COMMON
        lo, hi = np.where(np.isnan(lo), 0.0, lo) * np.exp(-common), np.where(np.isnan(hi), 1.0, hi) * np.exp(common)
        return lo, hi


def log_sum(x: Reals, axis: Axes) -> Reals:
    """The logarithm of a sum of exponentials."""
    with np.errstate(all="ignore"):
        top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        moved = np.sum(np.exp(x - np.where(np.isfinite(top), top, 0.0)), axis=axis, keepdims=True)
        return np.asarray(np.where(np.isfinite(top), top, 0.0) + np.log(moved))


def log_sum_of_others(x: Reals, axis: int) -> Reals:
    """For each element the logarithm of the sum of the exponentials of all others along an axis."""
    x = np.moveaxis(x, axis, -1)
    none = np.full((*x.shape[:-1], 1), -np.inf)
    before = np.concatenate([none, np.logaddexp.accumulate(x, axis=-1)[..., :-1]], axis=-1)
    behind = np.concatenate([none, np.logaddexp.accumulate(x[..., ::-1], axis=-1)[..., :-1]], axis=-1)[..., ::-1]
    return np.asarray(np.moveaxis(np.logaddexp(before, behind), -1, axis))

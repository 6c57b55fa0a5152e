"""The factors of a product, which a kernel may multiply in any order, and the largest product of some of them.

A factor is looked at element by element only where a bound of all elements does not tell enough. Knows tensors; it
knows no operation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

MOST_STEPS = 16
"""So many products that follow each other keep the arrays of their factors; after that, one array of peaks."""


class Factor(Protocol):
    """A factor, or its reciprocal where it is a divisor."""

    @property
    def steps(self) -> int:
        """The products that follow each other in it."""

    def bound(self, is_divisor: bool) -> float:
        """What no element's peak lies above, but for those that are none, since a factor is infinite or NaN."""

    def peak(self, is_divisor: bool) -> torch.Tensor:
        """For each element the largest product of some of its factors, or of none: each counts for no less than 1."""


@dataclass(frozen=True, eq=False)
class SingleFactor:
    """A factor that is no product. `bounds`: those that are known so far."""

    numbers: torch.Tensor
    bounds: dict[bool, float] = field(default_factory=dict)
    steps: int = 0

    def bound(self, is_divisor: bool) -> float:
        if is_divisor not in self.bounds:
            self.bounds[is_divisor] = self.find_bound(is_divisor) if self.numbers.numel() else 1.0
        return self.bounds[is_divisor]

    def find_bound(self, is_divisor: bool) -> float:
        x = self.numbers
        most = float(x.abs().amin().reciprocal() if is_divisor else torch.stack(x.aminmax()).abs().amax())
        if not most < torch.inf:  # of some numbers at least
            most = float(self.peak(is_divisor).nan_to_num_(1.0, 1.0).amax())
        return max(most, 1.0)

    def peak(self, is_divisor: bool) -> torch.Tensor:
        size = self.numbers.abs()
        return (size.reciprocal_() if is_divisor else size).clamp_(min=1.0)


ONE = SingleFactor(torch.ones((), dtype=torch.float64))


@dataclass(frozen=True, eq=False)
class Product:
    """The factors of a step's result, each with whether it is a divisor, and how the result lies in its storage."""

    factors: Sequence[tuple[Factor, bool]]
    shape: Sequence[int]
    strides: Sequence[int]
    steps: int
    bounds: dict[bool, float] = field(default_factory=dict)
    peaks: dict[bool, torch.Tensor] = field(default_factory=dict)

    def bound(self, is_divisor: bool) -> float:
        if is_divisor not in self.bounds:
            made = 1.0
            for one, is_below in self.factors:
                made *= one.bound(is_below != is_divisor)
            self.bounds[is_divisor] = made
        return self.bounds[is_divisor]

    def peak(self, is_divisor: bool) -> torch.Tensor:
        if is_divisor not in self.peaks:
            made = torch.ones((), dtype=torch.float64)
            for one, is_below in self.factors:
                if one.bound(is_below != is_divisor) > 1:
                    made = made * one.peak(is_below != is_divisor)
            laid = torch.empty_strided(tuple(self.shape), tuple(self.strides), dtype=torch.float64)
            self.peaks[is_divisor] = laid.copy_(made)
        return self.peaks[is_divisor]


@dataclass(frozen=True, eq=False)
class SeenProduct:
    """A product as a tensor sees it, which lies in its storage."""

    product: Product
    shape: Sequence[int]
    strides: Sequence[int]
    offset: int

    @property
    def steps(self) -> int:
        return self.product.steps

    def bound(self, is_divisor: bool) -> float:
        return self.product.bound(is_divisor)

    def peak(self, is_divisor: bool) -> torch.Tensor:
        return self.product.peak(is_divisor).as_strided(tuple(self.shape), tuple(self.strides), self.offset)


def join_factors(factors: Sequence[tuple[Factor, bool]], like: torch.Tensor) -> Product:
    """The factors of a result; of one that has many before it only the peak stays."""
    kept = [(SingleFactor(one.peak(own)), False) if one.steps >= MOST_STEPS else (one, own) for one, own in factors]
    return Product(kept, like.shape, like.stride(), 1 + max(one.steps for one, _ in kept))

"""How an op's array lies in an array of a kernel: with the axes in another order, joined to one, or of size 1.

Knows arrays and the names of dimensions; never what an op computes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.op.shapes import Lengths

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class ArrayView:
    """The dimensions of a kernel's array, and for each dimension of the op those that make it up, none if it is 1."""

    dimensions: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]

    @property
    def is_other(self) -> bool:
        """Whether the kernel's array has another shape or order than the op's."""
        return self.dimensions != tuple("".join(part) for part in self.parts)

    @property
    def _order(self) -> list[int]:
        """The kernel's axes in the op's order, after those of size 1."""
        ones = [place for place, name in enumerate(self.dimensions) if name == "1"]
        return ones + [self.dimensions.index(name) for part in self.parts for name in part]

    def lengths(self, shape: tuple[int, ...]) -> dict[str, int]:
        """The length of each of the kernel's dimensions."""
        return dict(zip(self.dimensions, shape, strict=True))

    def shape(self, lengths: Lengths) -> tuple[int, ...]:
        """The op's shape."""
        return tuple(prod(lengths[name] for name in part) for part in self.parts)

    def to_op(self, array: NDArray[T]) -> NDArray[T]:
        """The kernel's array as the op has it."""
        return array.transpose(self._order).reshape(self.shape(self.lengths(array.shape)))

    def to_kernel(self, array: NDArray[T], lengths: Lengths) -> NDArray[T]:
        """The op's array as the kernel has it."""
        known = {"1": 1, **lengths}
        order = self._order
        apart = array.reshape([known[self.dimensions[axis]] for axis in order])
        return apart.transpose(np.argsort(order))

    def index(self, index: tuple[int, ...], lengths: Lengths) -> tuple[int, ...]:
        """The place in the kernel's array of an element of the op's."""
        at = {"1": 0}
        for place, part in zip(index, self.parts, strict=True):
            for name, one in zip(part, np.unravel_index(place, [lengths[name] for name in part]), strict=True):
                at[name] = int(one)
        return tuple(at[name] for name in self.dimensions)


ArrayViews = Mapping[str, ArrayView]
"""By role; inputs and outputs apart, since they may share a name."""

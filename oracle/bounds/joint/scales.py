"""The joint test of numbers that are quantized and dequantized: one scale, which is not written, must fit a group.

Each element confines the scale: its own number is a number of the grid times the scale, and the code must be right for
it. If no scale of amax's set fits all of them, the group is wrong, though each element may be right by itself.
docs/numerics.md#unseen-scales
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.enclosure import Clash, Doubles
from kfuzz.oracle.numbers.grid import Grid
from kfuzz.oracle.numbers.groups import BlockSize, largest_of_blocks, value_of_block
from kfuzz.oracle.systems.room import OPERATIONS_4


@dataclass(frozen=True)
class UnseenScale:
    """What a formula says of it: x, the ends of the scale's set by group, and the roundings on the way.

    `k`: from the scale to x / scale. `stored`: the type of the answer; the product is rounded in `work` before.
    """

    x: Doubles
    lo: Doubles
    hi: Doubles
    blocks: BlockSize
    grid: Grid
    k: int
    work: Element
    stored: Element


def find_clashes_of_scales(unseen: UnseenScale, got: Doubles) -> Iterator[Clash]:
    """The groups that no scale fits, one clash for each."""
    with np.errstate(all="ignore"):
        least, most = allowed_scales(unseen, got)
        low, high = largest_of_blocks(least, unseen.blocks), -largest_of_blocks(-most, unseen.blocks)
    for group in np.argwhere(low > high * OPERATIONS_4):
        place = tuple(int(i) for i in group)
        at = _elements_of(place, unseen.blocks)
        first, second = _argument(least, at), _argument(-most, at)
        wrong = np.zeros(got.shape, dtype=np.bool_)
        wrong[first] = wrong[second] = True
        message = f"no scale fits both elements {list(first)} and {list(second)} of one group"
        yield Clash(first, wrong[first[0]], message, partial(_is_certain, float(least[first]), float(most[second])))


def allowed_scales(unseen: UnseenScale, got: Doubles) -> tuple[Doubles, Doubles]:
    """The least and the greatest scale that each element allows."""
    low, high = (
        np.broadcast_to(value_of_block(end, unseen.blocks, got.shape), got.shape) for end in (unseen.lo, unseen.hi)
    )
    place = unseen.grid.places(np.asarray(got / ((low + high) / 2)))
    number = unseen.grid.numbers[place]
    g = _relative(unseen)
    known = np.isfinite(got) & np.isfinite(unseen.x) & (low > 0) & np.isfinite(high)
    least_number = float(np.min(np.abs(unseen.grid.numbers[unseen.grid.numbers != 0])))
    result = np.where(got == 0, low * least_number, np.abs(got))  # of a 0, what the least number of the grid would be
    known &= result > unseen.stored.min_normal * 4  # a denormal has too few digits to tell its code
    is_told = known & (number != 0)
    ratio = np.where(is_told, got / np.where(number == 0, 1.0, number), 1.0)
    least = np.where(is_told, ratio * (1 - g), low)
    most = np.where(is_told, ratio * (1 + g), high)
    inner, outer = _cells(unseen.grid, place)
    k = unseen.k * unseen.work.u * 2
    size = np.abs(unseen.x)
    same = known & ((number == 0) | (np.sign(number) == np.sign(unseen.x)))
    by_outer = np.where(np.isfinite(outer), size / outer * (1 - k), 0.0)
    by_inner = np.where(inner > 0, size / np.where(inner > 0, inner, 1.0) * (1 + k), np.inf)
    least = np.maximum(least, np.where(same, by_outer, low))
    most = np.minimum(most, np.where(same, by_inner, high))
    return np.where(known, np.maximum(least, low), 0.0), np.where(known, np.minimum(most, high), np.inf)


def _relative(unseen: UnseenScale) -> float:
    """What the product, and the type that stores it, may add to a number: twice the roundings' first order."""
    u = unseen.work.u
    return u * (1 + 8 * u) + (unseen.stored.u * (1 + 8 * u) if unseen.stored is not unseen.work else 0.0) + u * u


def _cells(grid: Grid, place: Reals) -> tuple[Doubles, Doubles]:
    """The least and the greatest size of t that may be rounded to a number, to the nearest; no end beyond the last."""
    g = grid.numbers
    below, above = g[np.maximum(place - 1, 0)], g[np.minimum(place + 1, len(g) - 1)]
    ends = (
        np.where(place == 0, -np.inf, (g[place] + below) / 2),
        np.where(place == len(g) - 1, np.inf, (g[place] + above) / 2),
    )
    negative = g[place] < 0
    inner = np.where(negative, -ends[1], ends[0])
    outer = np.where(negative, -ends[0], ends[1])
    return np.where(g[place] == 0, 0.0, inner), np.where(g[place] == 0, np.maximum(-ends[0], ends[1]), outer)


def _elements_of(group: tuple[int, ...], blocks: BlockSize) -> tuple[int | slice, ...]:
    """The place of one group's elements."""
    rows, cols = (slice(one * size, (one + 1) * size) for one, size in zip(group[-2:], blocks, strict=True))
    return (*group[:-2], rows, cols)


def _argument(x: Doubles, at: tuple[int | slice, ...]) -> tuple[int, ...]:
    """The index of the largest number of a group."""
    part = x[at]
    place = np.unravel_index(int(np.argmax(part)), part.shape)
    row, col = (int(i) + int(one.start) for i, one in zip(place, at[-2:], strict=True) if isinstance(one, slice))
    return (*(int(i) for i in at[:-2] if not isinstance(i, slice)), row, col)


def _is_certain(least: float, most: float) -> bool:
    """Whether the ends are apart by more than the 32 operations in float64 that made them can err."""
    return Fraction(least) > Fraction(most) * (1 + Fraction(1, 2**47))

"""Integers with a structure, and masks: segments of which one is empty or has everything, indices twice or nowhere.

A family makes one row of integers; what it gets wrong the structure puts right. Knows structures and sizes; it knows no
op and no claim.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from kfuzz.cases.case import Values
from kfuzz.cases.plans.choose import Choose, one_of
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.oracle.numbers.layout import Shape
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.op.structure import Integers, Structure

KINDS_OF_ROW = 3
"""So many kinds of row take turns in an array."""


@dataclass(frozen=True)
class IntegerRow:
    """A row to make: how many integers, from `low` to `high`, widths near which a kernel changes its ways, a seed."""

    count: int
    low: int
    high: int
    widths: Sequence[int]
    seed: int

    @property
    def span(self) -> int:
        return self.high - self.low + 1

    @property
    def place(self) -> int:
        """One of the places: the first, the last, or any."""
        if not self.count:
            return 0
        return (0, self.count - 1, self.count // 2, self.seed % self.count)[self.seed >> 3 & 3]

    @property
    def width(self) -> int:
        """A width within the range, if there is one."""
        fitting = [width for width in self.widths if 1 < width <= self.high] or [max(self.high // 2, 1)]
        return fitting[(self.seed >> 5) % len(fitting)]

    def uniform(self, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Numbers from 0 to below 1, the same on every machine."""
        noise = Recipe(1, count, (Band(Base("uniform", 0, bits_of(1.0), self.seed)),))
        return np.asarray(noise.values[0], np.float64)

    def below(self, span: int) -> Integers:
        """Any integers from 0 to below `span`, one for each place."""
        return np.floor(self.uniform(self.count) * span).astype(np.int64)


RowFamily = Callable[[IntegerRow], Integers]


def anywhere(row: IntegerRow) -> Integers:
    return row.low + row.below(row.span)


def all_least(row: IntegerRow) -> Integers:
    return np.full(row.count, row.low)


def all_greatest(row: IntegerRow) -> Integers:
    return np.full(row.count, row.high)


def one_greatest(row: IntegerRow) -> Integers:
    return np.where(np.arange(row.count) == row.place, row.high, row.low)


def one_least(row: IntegerRow) -> Integers:
    return np.where(np.arange(row.count) == row.place, row.low, row.high)


def least_or_greatest(row: IntegerRow) -> Integers:
    return np.where(row.below(2) > 0, row.high, row.low)


def all_equal(row: IntegerRow) -> Integers:
    return np.full(row.count, row.low + row.seed % row.span)


def few_values(row: IntegerRow) -> Integers:
    return row.low + row.below(min(row.span, 3))


def in_order(row: IntegerRow) -> Integers:
    return row.low + np.arange(row.count) % row.span


def backwards(row: IntegerRow) -> Integers:
    return row.high - np.arange(row.count) % row.span


def near_a_width(row: IntegerRow) -> Integers:
    return np.clip(row.width + row.below(3) - 1, row.low, row.high)


def shuffled(row: IntegerRow) -> Integers:
    """Each integer once, in any order; the first of them if there are more than places."""
    return row.low + np.argsort(row.uniform(row.count), kind="stable")


def shuffled_last(row: IntegerRow) -> Integers:
    return row.high - np.argsort(row.uniform(row.count), kind="stable")


def one_swap(row: IntegerRow) -> Integers:
    made, first = in_order(row), row.place
    second = (first + 1 + row.seed % max(row.count - 1, 1)) % max(row.count, 1)
    made[[first, second]] = made[[second, first]] if row.count else made
    return made


def pairs_swapped(row: IntegerRow) -> Integers:
    return row.low + (np.arange(row.count) ^ 1)


def turned(row: IntegerRow) -> Integers:
    return row.low + (np.arange(row.count) + row.place + 1) % max(min(row.span, row.count), 1)


RANGES: tuple[RowFamily, ...] = (
    *(anywhere, one_greatest, one_least, near_a_width, all_least, all_greatest, least_or_greatest, all_equal),
    *(few_values, in_order, backwards),
)
ORDERED_ONCE: tuple[RowFamily, ...] = (
    *(shuffled, shuffled_last, in_order, backwards, one_swap, pairs_swapped, turned, anywhere),
)


def even_parts(row: IntegerRow) -> Integers:
    return row.high * np.arange(1, row.count + 1) // max(row.count, 1)


def one_has_all(row: IntegerRow) -> Integers:
    return np.where(np.arange(row.count) < row.place, 0, row.high)


def any_cuts(row: IntegerRow) -> Integers:
    return np.sort(row.below(row.high + 1))


def one_empty(row: IntegerRow) -> Integers:
    """Any cuts, or even ones; the segment of one place is empty."""
    ends = even_parts(row) if row.seed & 1 else any_cuts(row)
    if row.place == 0:
        ends[:1] = 0
    elif row.place < row.count:
        ends[row.place - 1] = ends[row.place] if row.place < row.count - 1 else row.high
    return np.sort(ends)


def first_and_last_empty(row: IntegerRow) -> Integers:
    ends = even_parts(row)
    ends[:1], ends[-2:] = 0, row.high
    return ends


def single_elements(row: IntegerRow) -> Integers:
    """Segments of one element; what is left lies in the last one."""
    return np.minimum(np.arange(1, row.count + 1), row.high)


def few_cuts(row: IntegerRow) -> Integers:
    """Most segments are empty."""
    return np.sort(row.high * row.below(3) // 2)


def every_other_empty(row: IntegerRow) -> Integers:
    return row.high * (np.arange(1, row.count + 1) // 2) // max(row.count // 2, 1)


def lengths_near_a_width(row: IntegerRow) -> Integers:
    return np.minimum(np.cumsum(row.width + row.below(3) - 1), row.high)


def last_has_most(row: IntegerRow) -> Integers:
    return np.minimum(np.cumsum(row.below(3)), row.high)


SEGMENTS: tuple[RowFamily, ...] = (
    *(any_cuts, one_empty, one_has_all, even_parts, lengths_near_a_width, first_and_last_empty, single_elements),
    *(few_cuts, every_other_empty, last_has_most),
)


def none_absent(row: IntegerRow) -> Integers:
    return np.zeros(row.count, np.int64)


def all_absent(row: IntegerRow) -> Integers:
    return np.ones(row.count, np.int64)


def one_absent(row: IntegerRow) -> Integers:
    return np.asarray(np.arange(row.count) == row.place, np.int64)


def all_absent_but_one(row: IntegerRow) -> Integers:
    return np.asarray(np.arange(row.count) != row.place, np.int64)


def absent_from_some_place(row: IntegerRow) -> Integers:
    return np.asarray(np.arange(row.count) >= row.place, np.int64)


def any_absent(row: IntegerRow) -> Integers:
    return row.below(2)


ABSENT: tuple[RowFamily, ...] = (
    *(none_absent, one_absent, any_absent, absent_from_some_place, all_absent, all_absent_but_one),
)


def draw_integers(
    structure: Structure, shape: Shape, sizes: Lengths, widths: Sequence[int], choose: Choose
) -> Values:  # fmt: skip
    """An array of this structure: rows of up to three families in turns."""
    *lead, count = shape
    low, high = structure.bounds(sizes)
    rows = prod(lead)
    families = SEGMENTS if structure.is_segments else ORDERED_ONCE if structure.order in ONCE else RANGES
    kinds = [
        (one_of(choose, families), one_of(choose, ABSENT) if structure.absent else none_absent, choose(0, 0xFFFF))
        for _ in range(min(rows, KINDS_OF_ROW))
    ]
    many = count - 1 if structure.order == "rises" else count
    made = np.zeros((rows, count), np.int64)
    for place in range(rows if count and many else 0):
        family, absent, seed = kinds[place % len(kinds)]
        row = IntegerRow(many, low, max(high, low), widths, (seed + 7919 * (place // len(kinds))) & 0xFFFF)
        integers = np.where(absent(row) > 0, -1, family(row))
        if structure.order == "rises":
            integers = np.concatenate((np.zeros(1, np.int64), integers))
        elif structure.order == "parts":
            integers = np.diff(integers, prepend=0)
        made[place] = integers
    return structure.arrange(made, sizes).reshape(shape).astype(np.float32)


ONCE = ("distinct", "permutation")


def draw_mask(shape: Shape, choose: Choose) -> Values:
    """Truths: all or none, all or none in one row or column; a triangle, a diagonal, the beginning of each row."""
    *lead, cols = shape
    rows = prod(lead)
    row, col = np.arange(rows)[:, None], np.arange(cols)[None, :]
    seed = choose(0, 0xFFFF)
    of_rows, of_cols = IntegerRow(rows, 0, 1, (), seed), IntegerRow(cols, 0, 1, (), seed >> 4)
    noise = of_rows.uniform(rows * cols).reshape(rows, cols)
    lengths = np.floor(of_rows.uniform(rows) * (cols + 1))[:, None]
    masks = (
        *(noise < 0.5, (noise < 0.5) & (row != of_rows.place), (noise < 0.5) | (row == of_rows.place), col < lengths),
        *(noise >= 0, noise < 0, row != of_rows.place, row == of_rows.place, col == of_cols.place),
        *(col != of_cols.place, col == row % max(cols, 1), col <= row, noise < 0.05, noise >= 0.05),
    )
    made = np.broadcast_to(one_of(choose, masks), (rows, cols))
    return made.reshape(shape).astype(np.float32)

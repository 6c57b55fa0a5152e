"""Vast arrays, of up to 2^32 elements and more: alternating rows of 0 and 1, which the host never stores as a whole.

On the cpu device a few blocks run, and only the memory that they touch is filled: an index that overflows 32 bits
misses its array by gigabytes, and the rows that a block writes are judged. A GPU holds the arrays and runs the whole
grid. Knows shapes and block numbers; never what a kernel computes.
"""

import random
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

INT_COUNTS = 1 << 31
LEAST = 1 << 15
"""An array of fewer elements is always filled."""
BLOCKS = 12
KINDS = 7
"""Kinds of row, which alternate: a prime, so that an error that recurs at some stride of rows meets all of them.
gpu/vast.cu and cuda_on_cpu/runtime/vast.cpp have the same number."""
LATE = np.array([0, 1, 1, 0, 1, 0, 1])
"""For each kind, how many columns its pattern has gone ahead: rows of one column differ, too, and no shift of the kinds
leaves them as they are."""


def make_unfilled(shape: Sequence[int]) -> NDArray[np.float32]:
    """A substitute for an array that is never filled: it has the same shape and takes no memory."""
    return np.broadcast_to(np.float32(0.0), tuple(shape))


def is_vast(array: NDArray[np.generic]) -> bool:
    """Whether an array is such a substitute: at least LEAST elements, and a single number in memory."""
    return array.size >= LEAST and not any(array.strides)


def alternate_rows(shape: Sequence[int], axis: int, rows: Sequence[int]) -> NDArray[np.float32]:
    """These rows of a vast array, whose rows alternate along an axis.

    Row r of kind k = r mod 7 has 1 in every column c for which 2 + k divides c + LATE[k], else 0. The sums, places and
    lengths of rows therefore differ, every format has both numbers, and no sum of 2^24 of them is rounded.
    """
    length = prod(shape) // max(1, shape[axis])
    made = np.zeros((len(rows), length), np.float32)
    for row, kind in zip(made, np.asarray(rows) % KINDS, strict=True):
        row[-LATE[kind] % (2 + kind) :: 2 + kind] = 1.0
    others = [size for place, size in enumerate(shape) if place != axis]
    return np.ascontiguousarray(np.moveaxis(made.reshape(len(made), *others), 0, axis))


def choose_blocks(grid: Sequence[int], seed: int) -> tuple[int, ...]:
    """The blocks of a grid that run: the last ones, where indices are largest, the first ones, and some between.

    The first ones are there, and one near them, because their places show in which order all blocks write.
    """
    count = prod(grid)
    draw = random.Random(f"blocks {seed}")  # noqa: S311  drawn for coverage, nothing is kept secret
    late = [count - 1 - draw.randrange(1 + count // 64) for _ in range(2)]
    some = [min(count - 1, draw.randrange(2, 64)), *(draw.randrange(count) for _ in range(3))]
    units = [number for _, number in unit_blocks(grid)]
    return tuple(dict.fromkeys([count - 1, *late, 0, max(0, count - 2), *units, *some]))[:BLOCKS]


def unit_blocks(grid: Sequence[int]) -> list[tuple[int, int]]:
    """Each axis along which a grid has several blocks, with the number of the second block there."""
    return [(axis, prod(grid[:axis])) for axis, size in enumerate(grid) if size > 1]

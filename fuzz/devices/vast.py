"""Arrays of more elements than an int counts: zeros that nobody has stored, and a few blocks that run on them.

What such a job shows is where its blocks access memory, and nothing else: an index that overflows 32 bits leaves its
array by gigabytes. Knows shapes and block numbers; never what a kernel computes.
"""

import random
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

INT_COUNTS = 1 << 31
LEAST = (1 << 26) + 1
"""Elements from which on an array is never filled; no case has so many otherwise."""
BLOCKS = 8


def zeros(shape: Sequence[int]) -> NDArray[np.float32]:
    """An array of zeros that takes no memory."""
    return np.broadcast_to(np.float32(0.0), tuple(shape))


def is_vast(array: NDArray[np.generic]) -> bool:
    """Whether an array is one of these: of so many elements, and one number in memory."""
    return array.size >= LEAST and not any(array.strides)


def sampled(grid: Sequence[int], seed: int) -> tuple[int, ...]:
    """Which blocks of a grid run: the last ones, where indices are largest, the first, and some between."""
    count = prod(grid)
    draw = random.Random(f"blocks {seed}")  # noqa: S311  drawn for coverage, nothing is kept secret
    late = [count - 1 - draw.randrange(1 + count // 64) for _ in range(2)]
    some = [draw.randrange(count) for _ in range(3)]
    return tuple(dict.fromkeys([count - 1, *late, 0, *some, max(0, count - 2)]))[:BLOCKS]

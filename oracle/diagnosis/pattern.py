"""Where in a row the wrong elements are. It knows masks only."""

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.verdict import Extent, Pattern

MOST_ROWS = 16
"""The most rows with wrong elements that a report names."""


def pattern(wrong: NDArray[np.bool_]) -> Pattern:
    """Where the wrong elements of a row are."""
    index = np.flatnonzero(wrong)
    n = len(wrong)
    if len(index) == 0:
        return Pattern("")
    first, last = int(index[0]), int(index[-1])
    if len(index) == n:
        return Pattern("row", first, last)
    if last - first + 1 == len(index):
        return Pattern("tail" if last == n - 1 else "head" if first == 0 else "interior", first, last)
    steps = np.diff(index)
    if len(index) > 2 and (steps == steps[0]).all():
        return Pattern("strided", first, last, int(steps[0]))
    return Pattern("tail" if first >= n // 2 and last == n - 1 else "interior", first, last)


def extent(wrong: NDArray[np.bool_], worst: tuple[int, ...]) -> Extent:
    """How many elements of an output are wrong, in which rows, and where in the worst row.

    Rows are numbered along all axes but the last: a second head's rows follow the first one's.
    """
    rows = wrong.reshape(-1, wrong.shape[-1])
    row = int(np.ravel_multi_index(worst, wrong.shape)) // wrong.shape[-1]
    numbers = tuple(int(r) for r in np.flatnonzero(rows.any(axis=1))) or (row,)
    named = numbers[:MOST_ROWS]
    return Extent(int(wrong.sum()), wrong.size, named, pattern(rows[row]), len(numbers) - len(named))

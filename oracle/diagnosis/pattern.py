"""Where in a row the wrong elements lie. Knows masks only."""

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.verdict import Extent

MOST_ROWS = 16
"""So many of the rows that hold wrong elements are named."""


def region(wrong: NDArray[np.bool_]) -> str:
    """One word for a row's wrong elements: row, head, tail, strided or interior."""
    index = np.flatnonzero(wrong)
    n = len(wrong)
    if len(index) == 0:
        return ""
    first, last = int(index[0]), int(index[-1])
    if len(index) == n:
        return "row"
    if last - first + 1 == len(index):
        return "tail" if last == n - 1 else "head" if first == 0 else "interior"
    steps = np.diff(index)
    if len(index) > 2 and (steps == steps[0]).all():
        return "strided"
    return "tail" if first >= n // 2 and last == n - 1 else "interior"


def describe(wrong: NDArray[np.bool_]) -> str:
    """The same in words and numbers: "tail, from 254", "every 4th from 3"."""
    index = np.flatnonzero(wrong)
    if len(index) == 0:
        return "none by itself"
    first, last = int(index[0]), int(index[-1])
    match region(wrong):
        case "row":
            return "the whole row"
        case "strided":
            return f"every {int(index[1] - index[0])}th from {first}"
        case where:
            return f"{where}, {first}" if first == last else f"{where}, {first}..{last}"


def extent(wrong: NDArray[np.bool_], worst: tuple[int, ...]) -> Extent:
    """How many elements of an output are wrong, in which rows, and where in the worst row.

    Rows are numbered along all axes but the last: a second head's rows follow the first one's.
    """
    rows = wrong.reshape(-1, wrong.shape[-1])
    row = int(np.ravel_multi_index(worst, wrong.shape)) // wrong.shape[-1]
    numbers = tuple(int(r) for r in np.flatnonzero(rows.any(axis=1))) or (row,)
    named = numbers[:MOST_ROWS]
    return Extent(int(wrong.sum()), wrong.size, named, describe(rows[row]), len(numbers) - len(named))

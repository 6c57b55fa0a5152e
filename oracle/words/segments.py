"""Segments of rows: `offsets[b]` is where segment b begins, and where the one before it ends.

Segments of equal length are computed together, so that a formula takes a few steps for thousands of them. Knows what a
formula knows: words, and integers as numpy has them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

OfLength = Callable[[Reals, Reals], Quantity]
"""Of some segments of one length, and the places of their elements, [segments, length]."""


@dataclass(frozen=True)
class PartOfRows:
    """Some rows of an answer: how they are made, how an array of their shape becomes rows, and which rows they are."""

    make: Callable[[], Quantity]
    move: Callable[[Reals], Reals]
    rows: Reals


def each_segment(N: System, offsets: Reals, answer: OfLength) -> Quantity:
    """An answer for each segment, in their order; `answer` gives [segments, ...]."""
    parts = [
        PartOfRows(partial(answer, segments, places), lambda part: part, segments)
        for segments, places in of_equal_length(offsets)
    ]
    return put_in_order(N, parts)


def each_element(N: System, offsets: Reals, answer: OfLength) -> Quantity:
    """An answer for each element of each segment; `answer` gives [segments, length, ...]."""
    parts = [
        PartOfRows(partial(answer, segments, places), lambda part: part.reshape(-1, *part.shape[2:]), places.ravel())
        for segments, places in of_equal_length(offsets)
        if places.size
    ]
    return put_in_order(N, parts) if parts else answer(offsets[:0], np.zeros((0, 0), np.int64))


def of_equal_length(offsets: Reals) -> list[tuple[Reals, Reals]]:
    """The segments of each length that there is, and the places of their elements."""
    lengths = np.diff(offsets)
    found = []
    for length in np.unique(lengths).tolist():
        segments = np.flatnonzero(lengths == length)
        found.append((segments, offsets[segments][:, None] + np.arange(length)[None, :]))
    return found


def put_in_order(N: System, parts: list[PartOfRows]) -> Quantity:
    """The rows of all parts, each in its own place; and which of them have only -inf to take a maximum of."""
    made, empty = list[Quantity](), list[Reals]()
    for part in parts:
        first = len(N.masked)
        found = part.make()
        marks = [np.broadcast_to(one, found.shape) for one in N.masked[first:]]
        del N.masked[first:]
        made.append(found.viewed(part.move))
        empty.append(part.move(np.any(marks, axis=0) if marks else np.zeros(found.shape, np.bool_)))
    order = np.argsort(np.concatenate([part.rows for part in parts]))
    if any(map(np.any, empty)):
        N.masked.append(np.concatenate(empty)[order])
    whole = made[0] if len(made) == 1 else N.join(*made, axis=0)
    return whole if np.array_equal(order, np.arange(len(order))) else whole[order]


def rows_of(x: Quantity, places: Reals) -> Quantity:
    """Rows of x as [segments, length, ...]."""
    return x[places.ravel()].reshaped(*places.shape, *x.shape[1:])

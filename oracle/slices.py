"""Rows judged a slice at a time, so that a large answer takes no more memory than a small one; then one verdict on all.

A verdict on all rows is what those on single rows say together: no row makes a rule looser for another. Knows rows
and verdicts; nothing of any op's formula.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.diagnosis.pattern import MOST_ROWS
from kfuzz.oracle.elements import F32, F64, OF_DTYPE, values
from kfuzz.oracle.enclosure import Floats
from kfuzz.oracle.verdict import Extent, Picture, Reason, Status, Verdict, Worst

MOST_ELEMENTS = 1 << 16
"""Of the inputs, or of the answer, that are judged at a time; of each the enclosure holds some 500 bytes while it is
made, and more at a time are slower: they fit no cache."""
MOST_SHOWN = 256
"""Elements of an answer that a person may want to see one by one."""
GRAVEST: tuple[Status, ...] = ("broken", "kept", "not judged")

RoleArrays = Mapping[str, Floats]
RowNumbers = NDArray[np.int64]
Part = tuple[RowNumbers, Verdict]
"""The rows of a slice, and the verdict on them."""


def split_rows(
    inputs: RoleArrays, answers: RoleArrays, cut: Mapping[str, int], ftz: bool, most: int = MOST_ELEMENTS
) -> Iterator[tuple[RowNumbers, RoleArrays, RoleArrays]]:
    """The rows of each slice, of all arrays that have some; one slice, unless there are too many.

    `cut` names the axis along which an array has rows; without one nothing is cut, and of an array without one every
    row needs the whole. Where denormals are flushed, rows that hold some are apart: what is read as x or as 0 is no
    number that is known, and the rules for such numbers are looser.
    """
    by_row = {role: array for role, array in inputs.items() if role in cut}
    if not by_row:
        yield np.arange(len(next(iter(answers.values())))), inputs, answers
        return
    count = next(array.shape[cut[role]] for role, array in by_row.items())
    elements = max(sum(array.size for array in arrays.values()) for arrays in (by_row, answers))
    step = max(1, count * most // max(1, elements))
    for first in range(0, max(1, count), step):
        rows = np.arange(first, min(first + step, count))
        low = rows_with_denormals(_take_rows(by_row, cut, rows), cut) if ftz else np.zeros(len(rows), dtype=np.bool_)
        for alike in (rows[~low], rows[low]) if np.any(low) and not np.all(low) else (rows,):
            yield alike, {**inputs, **_take_rows(by_row, cut, alike)}, _take_rows(answers, cut, alike)


def rows_with_denormals(inputs: RoleArrays, cut: Mapping[str, int]) -> NDArray[np.bool_]:
    """The rows with a number that may be flushed: below the least normal one of the format that is computed in."""
    floats = [np.moveaxis(array, cut[role], 0) for role, array in inputs.items() if array.dtype in OF_DTYPE]
    least = (F64 if any(OF_DTYPE[array.dtype] is F64 for array in floats) else F32).min_normal
    found = np.zeros(next(array.shape[cut[role]] for role, array in inputs.items()), dtype=np.bool_)
    for numbers in map(values, floats):
        low = (np.abs(numbers) < least) & (numbers != 0)
        found |= low.reshape(len(found), -1).any(axis=1)
    return found


def _take_rows(arrays: RoleArrays, cut: Mapping[str, int], rows: RowNumbers) -> dict[str, Floats]:
    """Some rows of all arrays, without a copy where they follow one another."""
    if not len(rows):
        return dict(arrays)
    place = slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] == len(rows) - 1 else rows
    return {role: array[(*[slice(None)] * cut[role], place)] for role, array in arrays.items()}


def join_verdicts(parts: Sequence[Part], answer: Floats) -> Verdict:
    """The verdict on an output: its worst part's, with what is wrong and judged in all of them."""
    if len(parts) == 1:
        return parts[0][1]
    rows, worst = min(parts, key=lambda part: (GRAVEST.index(part[1].status), -part[1].ratio))
    verdicts = [verdict for _, verdict in parts]
    place = worst.worst and _place_in_whole(worst.worst, rows)
    return replace(
        worst,
        ratio=max(verdict.ratio for verdict in verdicts),
        judged=sum(verdict.judged for verdict in verdicts),
        reasons=_add_reasons(verdicts),
        tier="arb" if any(verdict.tier == "arb" for verdict in verdicts) else "float64",
        worst=place,
        picture=worst.picture and _whole_picture(worst.picture, parts, answer),
        extent=worst.extent and _whole_extent(worst.extent, parts, answer),
    )


def _place_in_whole(found: Worst, rows: RowNumbers) -> Worst:
    """An element of a part, by its place in the whole."""
    return replace(found, index=(int(rows[found.index[0]]), *found.index[1:]))


def _whole_picture(worst: Picture, parts: Sequence[Part], answer: Floats) -> Picture | None:
    """The whole answer, where it is small enough to be looked at."""
    if answer.size > MOST_SHOWN:
        return None
    told = [_place_in_whole(one, rows) for rows, verdict in parts if verdict.picture for one in verdict.picture.wrong]
    told.sort(key=lambda one: one.index)
    return Picture(worst.output, answer.shape, tuple(values(answer).ravel().tolist()), tuple(told))


def _add_reasons(verdicts: Sequence[Verdict]) -> tuple[Reason, ...]:
    """Each reason once, with the rows or sums of all parts that it holds for."""
    counts: dict[Reason, int] = {}
    for reason in (reason for verdict in verdicts for reason in verdict.reasons):
        alike = replace(reason, count=0)
        counts[alike] = counts.get(alike, 0) + reason.count
    return tuple(replace(alike, count=count) for alike, count in counts.items())


def _whole_extent(worst: Extent, parts: Sequence[Part], answer: Floats) -> Extent:
    each = prod(answer.shape[1:-1])  # rows of one place on the axis that is cut: those of a head
    found = [(rows, verdict.extent) for rows, verdict in parts if verdict.extent]
    rows = sorted(int(part[row // each]) * each + row % each for part, extent in found for row in extent.rows)
    more = sum(extent.more_rows for _, extent in found) + max(0, len(rows) - MOST_ROWS)
    wrong = sum(extent.wrong for _, extent in found)
    return replace(worst, wrong=wrong, elements=answer.size, rows=tuple(rows[:MOST_ROWS]), more_rows=more)

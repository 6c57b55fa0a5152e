"""Judges rows a slice at a time, so that a large answer takes no more memory than a small one, and joins the verdicts.

The verdict on all rows follows from the verdicts on single rows: no row makes a rule looser for another. Knows rows
and verdicts, but no formula.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.diagnosis.pattern import MOST_ROWS
from kfuzz.oracle.judging.figures import most_ulps
from kfuzz.oracle.numbers.elements import F32, F64, OF_DTYPE, values
from kfuzz.oracle.numbers.enclosure import Floats
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Extent, Picture, Reason, Status, Tier, Verdict, Worst

MOST_ELEMENTS = 1 << 16
"""The most elements of the inputs, or of the answer, in a slice. The enclosure needs some 500 bytes for each while it
is made; larger slices are slower, since they do not fit a cache."""
MOST_SHOWN = 256
"""The most elements of an answer that a person may want to see one by one."""
GRAVEST: tuple[Status, ...] = ("broken", "suspect", "kept", "not judged")

RoleArrays = Mapping[str, Floats]
RowNumbers = NDArray[np.int64]
Part = tuple[RowNumbers, Verdict]
"""The rows of a slice, and the verdict on them."""


def split_rows(
    inputs: RoleArrays, answers: RoleArrays, cut: Mapping[str, int], ftz: bool, most: int = MOST_ELEMENTS
) -> Iterator[tuple[RowNumbers, RoleArrays, RoleArrays]]:
    """Split all arrays that have rows into slices; a small answer is one slice.

    `cut` names the axis along which an array has rows. Every row needs the whole of an array that it does not name.
    Where denormals are flushed, rows that contain denormals have slices of their own: a number that a kernel may read
    as x or as 0 is not known, and the rules for such numbers are looser.
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
        for alike in (rows[~low], rows[low]) if any_of(low) and not all_of(low) else (rows,):
            yield alike, {**inputs, **_take_rows(by_row, cut, alike)}, _take_rows(answers, cut, alike)


def rows_with_denormals(inputs: RoleArrays, cut: Mapping[str, int]) -> NDArray[np.bool_]:
    """The rows with a number that may be flushed: one below the least normal number of the working format."""
    floats = [np.moveaxis(array, cut[role], 0) for role, array in inputs.items() if array.dtype in OF_DTYPE]
    least = (F64 if any(OF_DTYPE[array.dtype] is F64 for array in floats) else F32).min_normal
    rows = np.zeros(next(array.shape[cut[role]] for role, array in inputs.items()), dtype=np.bool_)
    for numbers in map(values, floats):
        low = (np.abs(numbers) < least) & (numbers != 0)
        rows |= low.reshape(len(rows), -1).any(axis=1)
    return rows


def _take_rows(arrays: RoleArrays, cut: Mapping[str, int], rows: RowNumbers) -> dict[str, Floats]:
    """Take some rows of all arrays, without a copy if they are adjacent."""
    if not len(rows):
        return dict(arrays)
    place = slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] == len(rows) - 1 else rows
    return {role: array[(*[slice(None)] * cut[role], place)] for role, array in arrays.items()}


def join_verdicts(parts: Sequence[Part], answer: Floats) -> Verdict:
    """Join the verdicts on an output's slices: the worst one, with the counts of all."""
    if len(parts) == 1:
        return parts[0][1]
    rows, worst = min(
        parts, key=lambda part: (GRAVEST.index(part[1].status), not part[1].is_beyond_all, -part[1].ratio)
    )
    verdicts = [verdict for _, verdict in parts]
    place = worst.worst and _place_in_whole(worst.worst, rows)
    return replace(
        worst,
        ratio=max(verdict.ratio for verdict in verdicts),
        judged=sum(verdict.judged for verdict in verdicts),
        reasons=_add_reasons(verdicts),
        tier=join_tiers(worst, verdicts),
        rows=sum(verdict.rows for verdict in verdicts),
        unjudged_rows=sum(verdict.unjudged_rows for verdict in verdicts),
        ulps=most_ulps(verdicts),
        inaccurate=_join_inaccurate(parts, answer),
        worst=place,
        picture=worst.picture and _whole_picture(worst.picture, parts, answer),
        extent=worst.extent and _whole_extent(worst.extent, parts, answer),
    )


def _join_inaccurate(parts: Sequence[Part], answer: Floats) -> Verdict | None:
    """Join the verdicts on the slices that are inaccurate; None if none is."""
    found = [(rows, verdict.inaccurate) for rows, verdict in parts if verdict.inaccurate is not None]
    if not found:
        return None
    joined = join_verdicts(found, answer)
    if len(found) > 1 or joined.worst is None or joined.extent is None:
        return joined
    rows, (extent, worst) = found[0][0], (joined.extent, joined.worst)
    return replace(
        joined, worst=_place_in_whole(worst, rows), picture=None, extent=_whole_extent(extent, found, answer)
    )


def join_tiers(worst: Verdict, verdicts: Sequence[Verdict]) -> Tier:
    """What decided the verdict on a whole: that of the accusation, or balls if they had to decide about any part."""
    if worst.is_outside:
        return worst.tier
    return "arb" if any(verdict.tier == "arb" for verdict in verdicts) else "float64"


def _place_in_whole(worst: Worst, rows: RowNumbers) -> Worst:
    """Give an element of a slice its index in the whole answer."""
    return replace(worst, index=(int(rows[worst.index[0]]), *worst.index[1:]))


def _whole_picture(worst: Picture, parts: Sequence[Part], answer: Floats) -> Picture | None:
    """The whole answer, if it is small enough to read."""
    if answer.size > MOST_SHOWN:
        return None
    wrong = [_place_in_whole(one, rows) for rows, verdict in parts if verdict.picture for one in verdict.picture.wrong]
    wrong.sort(key=lambda one: one.index)
    return Picture(worst.output, answer.shape, tuple(values(answer).ravel().tolist()), tuple(wrong))


def _add_reasons(verdicts: Sequence[Verdict]) -> tuple[Reason, ...]:
    """Merge equal reasons and add up their counts over all slices."""
    counts: dict[Reason, int] = {}
    for reason in (reason for verdict in verdicts for reason in verdict.reasons):
        alike = replace(reason, count=0)
        counts[alike] = counts.get(alike, 0) + reason.count
    return tuple(replace(alike, count=count) for alike, count in counts.items())


def _whole_extent(worst: Extent, parts: Sequence[Part], answer: Floats) -> Extent:
    each = prod(answer.shape[1:-1])  # rows of one place on the axis that is cut: those of a head
    extents = [(rows, verdict.extent) for rows, verdict in parts if verdict.extent]
    rows = sorted(int(part[row // each]) * each + row % each for part, extent in extents for row in extent.rows)
    more = sum(extent.more_rows for _, extent in extents) + max(0, len(rows) - MOST_ROWS)
    wrong = sum(extent.wrong for _, extent in extents)
    return replace(worst, wrong=wrong, elements=answer.size, rows=tuple(rows[:MOST_ROWS]), more_rows=more)

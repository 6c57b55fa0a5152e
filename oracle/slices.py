"""Rows judged a slice at a time, so that a large answer takes no more memory than a small one; then one verdict on all.

Knows rows and verdicts; nothing of any op's formula.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kfuzz.oracle.diagnosis.pattern import MOST_ROWS
from kfuzz.oracle.op import Floats
from kfuzz.oracle.verdict import Extent, Status, Verdict

MOST_ELEMENTS = 1 << 21
"""Of the inputs that are judged at a time; of each the enclosure holds some 100 bytes while it is made."""
GRAVEST: tuple[Status, ...] = ("broken", "kept", "not judged")

RoleArrays = Mapping[str, Floats]
Part = tuple[int, Verdict]
"""The first row of a slice, and the verdict on its rows."""


def slices(
    inputs: RoleArrays, answers: RoleArrays, is_by_row: bool, most: int = MOST_ELEMENTS
) -> Iterator[tuple[int, RoleArrays, RoleArrays]]:
    """The first row of each slice, with its rows of all arrays; one slice, unless an op by row has too many."""
    rows, elements = len(next(iter(inputs.values()))), sum(array.size for array in inputs.values())
    step = max(1, rows * most // max(1, elements))
    if not is_by_row or rows <= step:
        yield 0, inputs, answers
        return
    for first in range(0, rows, step):
        yield first, _cut(inputs, first, first + step), _cut(answers, first, first + step)


def _cut(arrays: RoleArrays, first: int, last: int) -> RoleArrays:
    return {role: array[first:last] for role, array in arrays.items()}


def joined(parts: Sequence[Part], elements: int) -> Verdict:
    """The verdict on an output of so many elements: its worst part's, with what is wrong and judged in all of them."""
    first, worst = min(parts, key=lambda part: (GRAVEST.index(part[1].status), -part[1].ratio))
    verdicts = [verdict for _, verdict in parts]
    place = worst.worst and replace(worst.worst, index=(worst.worst.index[0] + first, *worst.worst.index[1:]))
    return replace(
        worst,
        ratio=max(verdict.ratio for verdict in verdicts),
        judged=sum(verdict.judged for verdict in verdicts),
        reasons=_summed(verdicts),
        tier="arb" if any(verdict.tier == "arb" for verdict in verdicts) else "float64",
        worst=place,
        picture=worst.picture if len(parts) == 1 else None,  # of a part alone it would be none of the answer
        extent=worst.extent and _whole_extent(worst.extent, parts, elements),
    )


def _summed(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Each reason once, with the rows or sums of all parts that it holds for."""
    counts: dict[str, int] = {}
    for reason in (reason for verdict in verdicts for reason in verdict.reasons):
        number, _, words = reason.partition(" ")
        counts[words] = counts.get(words, 0) + int(number)
    return tuple(f"{number} {words}" for words, number in counts.items())


def _whole_extent(worst: Extent, parts: Sequence[Part], elements: int) -> Extent:
    found = [(first, verdict.extent) for first, verdict in parts if verdict.extent]
    rows = [first + row for first, extent in found for row in extent.rows]
    more = sum(extent.more_rows for _, extent in found) + max(0, len(rows) - MOST_ROWS)
    wrong = sum(extent.wrong for _, extent in found)
    return replace(worst, wrong=wrong, elements=elements, rows=tuple(rows[:MOST_ROWS]), more_rows=more)

"""Draws with two seeds of which one is the next: those of one call are those of the other, some places further on.

`curand_init(seed + row, 0, offset, &state)` gives row 0 of seed 6 the numbers of row 1 of seed 5, and the draws of each
call by itself are right. Knows draws and probabilities; it does not know how a call is made.
"""

import numpy as np

from kfuzz.oracle.numbers.enclosure import Doubles
from kfuzz.oracle.numbers.evidence import LOG_LEVEL, Chances, log_evidence_of_pairs
from kfuzz.oracle.op.answer_sets import Categories

FEW = 16
"""A thread adds its number to the seed: draws move by as many elements or rows as it draws, or a power of two."""


def shifts_of(rows: int, columns: int) -> list[int]:
    """By how many places draws may have moved: elements, rows, and powers of two of them, in both directions."""
    steps = {*range(1, FEW + 1), *(1 << power for power in range((rows * columns).bit_length()))}
    moved = sorted({step for one in steps for step in (one, one * columns) if step < rows * columns})
    return [0, *moved, *(-one for one in moved)]


class SeedShifts:
    """For each shift the pairs of draws that agree and that differ, over all calls whose seed comes after another."""

    def __init__(self, chances: Chances, rows: int) -> None:
        columns = len(chances.lo)
        self.shifts = shifts_of(rows, columns)
        self.counts, self.logs = np.zeros((len(self.shifts), 2)), np.zeros((len(self.shifts), 2))
        self.before: Categories | None = None
        self.columns = np.tile(np.arange(columns), rows)
        with np.errstate(divide="ignore"):
            self.log_most = np.log(np.minimum(chances.hi, 1.0))
            self.log_rest = np.log(1 - np.minimum(chances.lo, 1.0))

    def add(self, category: Categories, is_next: bool) -> str:
        """Add the draws of a call; how they repeat those of the call before, or empty.

        The evidence is a supermartingale: each draw is compared with one that is known before it
        (docs/numerics.md#draws-that-agree).
        """
        now, before = category.reshape(-1), self.before
        self.before = now
        if before is None or not is_next:
            return ""
        for place, shift in enumerate(self.shifts):
            self._add_pairs(place, now[max(-shift, 0) :][: len(now) - abs(shift)], before, shift)
        if log_evidence_of_pairs(self.counts, self.logs) <= LOG_LEVEL:
            return ""
        return self.describe()

    def _add_pairs(self, place: int, now: Categories, before: Categories, shift: int) -> None:
        first = max(shift, 0)
        of_before, columns = before[first:][: len(now)], self.columns[max(-shift, 0) :][: len(now)]
        there = (now >= 0) & (of_before >= 0)
        of_now, of_before, columns = now[there], of_before[there], columns[there]
        agree = of_now == of_before
        self.counts[place] += agree.sum(), (~agree).sum()
        self.logs[place] += (
            self.log_most[columns[agree], of_before[agree]].sum(),
            self.log_rest[columns[~agree], of_before[~agree]].sum(),
        )

    def describe(self) -> str:
        """The shift with the most evidence."""
        each: Doubles = np.array(
            [log_evidence_of_pairs(one[None], log[None]) for one, log in zip(self.counts, self.logs, strict=True)]
        )
        worst = int(np.argmax(each))
        agree, differ = map(int, self.counts[worst])
        shift, columns = self.shifts[worst], int(self.columns[-1]) + 1
        is_rows = columns == 1 or (shift and shift % columns == 0)
        unit, far = ("row", abs(shift) // columns) if is_rows else ("element", abs(shift))
        way = (
            "in the same places"
            if not shift
            else f"{far} {unit}{'s' * (far > 1)} {'further on' if shift > 0 else 'before'}"
        )
        return (
            f"{agree} of {agree + differ} draws are those of the seed before, {way}; "
            "by chance less often than once in 10^21 tests"
        )

"""Counts what is drawn for equal rows, call by call; finds frequencies and repetitions that chance does not give.

Knows counts, probabilities and answers; it does not know how a call is made.
"""

from dataclasses import dataclass, field

import numpy as np

from kfuzz.campaign.properties.property import NamedOutputs
from kfuzz.campaign.properties.shifted import SeedShifts
from kfuzz.devices import Finding
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.elements import values
from kfuzz.oracle.numbers.enclosure import Doubles
from kfuzz.oracle.numbers.evidence import LEAST_BITS, LOG_LEVEL, Chances, equal_bits, log_evidence, log_evidence_of_all
from kfuzz.oracle.op.answer_sets import AnswerSet, Categories

DISTRIBUTION: Kind = "distribution"
REPEATED: Kind = "repeated-draws"
ENOUGH_CALLS = 2
"""After so many calls that agree, all rows are equal because one answer comes too often."""


@dataclass
class Quantities:
    """One output of equal rows: what may be drawn for each element of a row, and how often each category came."""

    role: str
    drawn: AnswerSet
    chances: Chances
    rows: int
    counts: Doubles
    seen: dict[bytes, str] = field(default_factory=dict)
    """The answers of earlier calls, with the words for each call."""
    calls: int = 0
    of_equal_rows: set[bytes] | None = field(default_factory=set)
    """The draws of a row in each call so far; None if the rows of a call differ."""
    shifted: SeedShifts = field(init=False)

    def __post_init__(self) -> None:
        self.shifted = SeedShifts(self.chances, self.rows)

    def add(self, words: str, got: NamedOutputs, is_next: bool = False) -> Finding | None:
        """Add the draws of a call; a finding if they cannot be what the op draws.

        `is_next`: its seed is that of the call before it plus 1.
        """
        answer = np.ascontiguousarray(got[self.role])
        numbers = values(answer)
        may_come, categorize = self.drawn.enclosure.holds, self.drawn.categorize
        assert may_come is not None, "what may be drawn is a set"
        assert categorize is not None, "what is drawn falls into categories"
        wrong = self.drawn.enclosure.judged & ~may_come(numbers)
        if wrong.any():
            place = ", ".join(map(str, np.argwhere(wrong)[0]))
            given = f"{float(numbers[wrong][0]):.9g}, which never comes"
            return Finding(DISTRIBUTION, f"{self.role}[{place}] is {given}, with {words}", array=self.role)
        category = categorize(numbers).reshape(self.rows, -1)
        columns, there = np.broadcast_to(np.arange(category.shape[1]), category.shape), category >= 0
        self.calls += 1
        np.add.at(self.counts, (columns[there], category[there]), 1)
        is_off = log_evidence_of_all(self.counts, self.chances) > LOG_LEVEL
        if (repeated := self.find_repeated(words, answer.tobytes(), category)) and not (is_off and self.are_all_equal):
            return Finding(REPEATED, repeated, array=self.role)
        if is_off and (self.calls > ENOUGH_CALLS or not self.are_all_equal):
            return Finding(DISTRIBUTION, self.describe(), array=self.role)
        if copied := self.shifted.add(category, is_next):
            return Finding(REPEATED, f"{self.role}: {copied}, with {words}", array=self.role)
        return None

    @property
    def are_all_equal(self) -> bool:
        """Whether all rows of all calls have the same draws, which is no sign of a repeated number."""
        return self.of_equal_rows is not None and len(self.of_equal_rows) == 1

    def find_repeated(self, words: str, answer: bytes, category: Categories) -> str:
        """How draws repeat that are equal by chance once in 2^70 times at most; empty if they do not."""
        by_row = equal_bits(self.chances)
        has_equal_rows = bool((category == category[:1]).all())
        if not has_equal_rows:
            self.of_equal_rows = None
        elif self.of_equal_rows is not None:
            self.of_equal_rows.add(category[0].tobytes())
        before = self.seen.setdefault(answer, words)
        if before != words and self.rows * by_row >= LEAST_BITS:
            return f"all {category.size} draws of {self.role} with {words} are those with {before}"
        if self.of_equal_rows and len(self.of_equal_rows) > 1 and (self.rows - 1) * by_row >= LEAST_BITS:
            return f"all {self.rows} rows of {self.role} have the same draws, in each of {self.calls} calls"
        others = Chances(self.chances.lo[1:], self.chances.hi[1:])
        has_two = len(np.unique(category)) > 1
        if self.rows * equal_bits(others) >= LEAST_BITS and has_two and (category == category[:, :1]).all():
            return f"all {category.shape[1]} elements of each row of {self.role} are drawn together, with {words}"
        return ""

    def describe(self) -> str:
        """The quantity and the category whose frequency is furthest from its probability."""
        worst = int(np.argmax(log_evidence(self.counts, self.chances)))
        counts, total = self.counts[worst], float(self.counts[worst].sum())
        share = counts / total
        away = np.maximum(share - self.chances.hi[worst], self.chances.lo[worst] - share)
        one = int(np.argmax(away))
        low, high = self.chances.lo[worst][one], self.chances.hi[worst][one]
        is_token = self.drawn.enclosure.want.ndim == 1
        what = f"{one} came" if is_token else f"the {('first', 'second')[one]} of the two values came"
        where = "" if is_token else f" in column {worst}"
        return (
            f"{what} {int(counts[one])} times in {int(total)} draws of {self.role}{where}: {share[one]:.4g}, "
            f"where its probability is {low:.6g} to {high:.6g}; by chance less often than once in 10^21 tests"
        )

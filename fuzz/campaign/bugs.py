"""Bugs: the discoveries of a campaign, grouped by cause, with the most informative one of each group in front.

One missing barrier shows at twenty pairs of lines and in as many wrong answers; you want to read about it once.
Knows discoveries; never how a kernel is run.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import TITLES

T = TypeVar("T")

VAGUE = {
    "denominator": 1, "wrong sum": 1, "wrong max": 1, "less accurate than claimed": 1, "number where NaN belongs": 1,
    "0/0": 1, "overflow": 1,
    "wrong elements": 2, "zero elements": 2, "all zero": 2, "permuted": 2,
    "not finite": 3, "sum of 0": 3,
}  # fmt: skip
"""Diagnoses that describe the answer rather than the mistake; the higher the number, the less they tell."""


FAINT = 2.0
"""Below this multiple of the bound, an error tells of the mistake only where no larger one does: a softmax whose tree
misses a lane gave 7e5 x and 1.5 x the bound, and the diagnosis of the latter was "less accurate than claimed".
"""


@dataclass(frozen=True)
class Bug:
    """One bug: the discovery that tells most about it, and the others with the same cause."""

    headline: Discovery
    also: tuple[Discovery, ...]

    @property
    def is_error(self) -> bool:
        """Whether it makes the kernel broken; a warning does not."""
        return self.headline.is_error

    @property
    def is_known(self) -> bool:
        """Whether a baseline knows it."""
        return self.headline.is_known

    @property
    def is_kept_before(self) -> bool:
        """Whether an earlier run has kept a case of it."""
        return any(one.is_kept_before for one in self.every)

    @property
    def is_at_barriers(self) -> bool:
        """Whether it shows only in threads that wait at different barriers."""
        return all(one.defect.kind == "divergent-barrier" for one in self.every)

    @property
    def every(self) -> tuple[Discovery, ...]:
        return self.headline, *self.also


def bugs_of(discoveries: Iterable[Discovery]) -> tuple[Bug, ...]:
    """The bugs of one kernel: errors before warnings, new ones before known ones, early ones before late ones. Warnings
    about the shape that a function was written for come before other warnings.

    Threads that wait at two barriers, which is harmless where a GPU counts them all, come after all other bugs.
    """
    bugs = [_bug(group) for group in group_by_cause(list(discoveries), lambda one: one.causes)]
    order = [
        ((not bug.is_error, bug.is_known, _rank_of(bug), bug.is_at_barriers, *_order_of(bug.headline)), bug)
        for bug in bugs
    ]
    return tuple(bug for _, bug in sorted(order, key=lambda pair: pair[0]))


def _rank_of(bug: Bug) -> int:
    rank = bug.headline.defect.rank
    return rank if rank or bug.is_error else len(TITLES)


def _bug(group: Sequence[Discovery]) -> Bug:
    finite = [one for one in group if one.defect.is_finite]  # wrong for finite numbers is worse than for infinities
    is_known = any(one.is_known for one in finite or group)
    headline, *also = sorted((one.with_known(is_known) for one in group), key=_order_of)
    return Bug(headline, tuple(also))


def _order_of(one: Discovery) -> tuple[object, ...]:
    defect = one.defect
    faint = faintness(defect.ratio, defect.is_joint)
    facts = (defect.kind, defect.diagnosis, defect.finding is None, defect.is_finite, faint, defect.line is not None)
    return report_order(one.is_error, *facts, one.first_trial, one.count, defect.bucket)


def report_order(
    is_error: bool,
    kind: str,
    diagnosis: str,
    is_answer: bool,
    is_finite: bool,
    faint: int,
    has_line: bool,
    first_trial: int,
    count: int,
    bucket: str,
) -> tuple[object, ...]:
    """The key that puts the most informative discovery of a bug first: a device's own finding, then a wrong
    answer to finite numbers that is far outside, is right by other code (which few trials run), and whose diagnosis
    names the mistake, then an early and frequent one.
    """
    vague = VAGUE.get(diagnosis, 0)
    what = (faint, kind != "compiled-otherwise", vague, kind == "special", not has_line)
    return not is_error, is_answer, is_answer and not is_finite, *what, first_trial, -count, bucket


def faintness(ratio: float | None, is_joint: bool) -> int:
    """2 for an answer that only its row makes impossible, 1 for one just outside its interval, else 0."""
    return 2 if is_joint else int(ratio is not None and ratio < FAINT)


def group_by_cause(items: Sequence[T], causes_of: Callable[[T], Iterable[str]]) -> list[list[T]]:
    """Group the items that are connected by common causes, directly or through other items."""
    groups: list[tuple[set[str], list[T]]] = []
    for item in items:
        causes, members = set(causes_of(item)), [item]
        apart = []
        for others, theirs in groups:
            if causes & others:
                causes |= others
                members = [*theirs, *members]
            else:
                apart.append((others, theirs))
        groups = [*apart, (causes, members)]
    return [members for _, members in groups]

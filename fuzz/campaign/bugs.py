"""Bugs: what a campaign has found of a kernel, put together by cause, with what tells most of each in front.

One missing barrier is seen at twenty pairs of lines and in as many wrong answers; a person has to read of it once.
Knows discoveries; never how a kernel is run.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kfuzz.campaign.state import Discovery

T = TypeVar("T")

VAGUE = {
    "denominator": 1, "wrong sum": 1, "wrong max": 1, "less accurate than claimed": 1, "number where NaN belongs": 1,
    "wrong elements": 2, "zero elements": 2, "all zero": 2, "permuted": 2,
    "not finite": 3, "sum of 0": 3, "0/0": 3, "overflow": 3,
}  # fmt: skip
"""Diagnoses that say how an answer looks rather than what was done; the higher, the less they tell."""


@dataclass(frozen=True)
class Bug:
    """What is taken for one bug: the discovery that tells most of it, and the others that come of the same cause."""

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
    def is_at_barriers(self) -> bool:
        """Whether nothing is seen of it but that threads wait at different barriers."""
        return all(one.defect.kind == "divergent-barrier" for one in self.every)

    @property
    def every(self) -> tuple[Discovery, ...]:
        return self.headline, *self.also


def bugs_of(discoveries: Iterable[Discovery]) -> tuple[Bug, ...]:
    """The bugs of one kernel: errors before warnings, news before what is known, the early before the late.

    Threads that wait at two barriers and are none the worse, for a card counts them all, come behind what shows.
    """
    found = [_bug(group) for group in group_by_cause(list(discoveries), lambda one: one.causes)]
    order = [
        ((not bug.is_error, bug.is_known, bug.headline.defect.rank, bug.is_at_barriers, *_order_of(bug.headline)), bug)
        for bug in found
    ]
    return tuple(bug for _, bug in sorted(order, key=lambda pair: pair[0]))


def _bug(group: Sequence[Discovery]) -> Bug:
    finite = [one for one in group if one.defect.is_finite]  # to be wrong for numbers is more than for infinities
    is_known = any(one.is_known for one in finite or group)
    headline, *also = sorted((one.with_known(is_known) for one in group), key=_order_of)
    return Bug(headline, tuple(also))


def _order_of(one: Discovery) -> tuple[object, ...]:
    defect = one.defect
    shown = (defect.kind, defect.diagnosis, defect.finding is None, defect.is_finite, defect.line is not None)
    return report_order(one.is_error, *shown, one.first_trial, one.count, defect.bucket)


def report_order(
    is_error: bool,
    kind: str,
    diagnosis: str,
    is_answer: bool,
    is_finite: bool,
    has_line: bool,
    first_trial: int,
    count: int,
    bucket: str,
) -> tuple[object, ...]:
    """Sorts what tells most of a bug to the front: what a device saw, then a wrong answer to numbers whose diagnosis
    names what was done, then what came first and often.
    """
    vague = VAGUE.get(diagnosis, 0)
    how = (is_answer, is_answer and not is_finite, vague, kind == "special", not has_line)
    return not is_error, *how, first_trial, -count, bucket


def group_by_cause(items: Sequence[T], causes_of: Callable[[T], Iterable[str]]) -> list[list[T]]:
    """The items in groups: those with a cause in common, and those in common with these, belong together."""
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

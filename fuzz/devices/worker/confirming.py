"""Decides whether a job that ended its process is accused: only of a defect that two processes saw.

A busy machine can make a correct launch time out once, in the first process or in the one that confirms. So a kind
that ends a context counts once any two looks agree.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from kfuzz.devices.outcomes import Finding, Outcome
from kfuzz.kinds import Kind, kinds_with

FATAL = kinds_with("ends-context")
LOOKS = 3
"""Most processes that run one job: two that disagree, and one that decides."""


def is_doubtful(outcome: Outcome, known: tuple[Kind, ...]) -> bool:
    """Whether an outcome has a fatal kind that is not already known for the kernel."""
    return not fatal_kinds(outcome) <= {*known}


def fatal_kinds(outcome: Outcome) -> set[Kind]:
    """The kinds in an outcome that end a context or a process."""
    return {one.kind for one in outcome.findings} & FATAL


def confirm(first: Outcome, look_again: Callable[[], Outcome], known: tuple[Kind, ...] = ()) -> Outcome:
    """The last look at a job, repeated in new processes until every fatal kind in it was seen at least twice.

    A finding that only one look showed is a warning.
    """
    looks = [first]
    counts = Counter(fatal_kinds(first))
    while len(looks) < LOOKS and (len(looks) == 1 or _is_single(looks[-1], counts, known)):
        looks.append(look_again())
        counts.update(fatal_kinds(looks[-1]))
    last = looks[-1]
    findings = [_as_warning(one) if _is_single_kind(one.kind, counts, known) else one for one in last.findings]
    for earlier in looks[:-1]:
        kinds = {one.kind for one in findings}
        findings += [_as_warning(one) for one in earlier.findings if one.kind not in kinds]
    return replace(last, findings=tuple(findings))


def _is_single(outcome: Outcome, counts: Counter[Kind], known: tuple[Kind, ...]) -> bool:
    return any(_is_single_kind(kind, counts, known) for kind in fatal_kinds(outcome))


def _is_single_kind(kind: Kind, counts: Counter[Kind], known: tuple[Kind, ...]) -> bool:
    return kind in FATAL and kind not in known and counts[kind] < 2


def _as_warning(finding: Finding) -> Finding:
    return replace(finding, severity="warning", message=f"{finding.message}; not again in a new process")

"""Whether a job that has ended its process is accused: only where a second process sees the same."""

from dataclasses import replace

from kfuzz.devices.outcomes import Outcome
from kfuzz.kinds import Kind, kinds_with

FATAL = kinds_with("ends-context")


def is_doubtful(outcome: Outcome, known: tuple[Kind, ...]) -> bool:
    """Whether an outcome has a fatal kind that is not already known of the kernel."""
    return not {one.kind for one in outcome.findings} & FATAL <= {*known}


def confirmed(first: Outcome, again: Outcome) -> Outcome:
    """The second outcome; what only the first one showed is a warning."""
    kinds = {one.kind for one in again.findings}
    once = tuple(
        replace(one, severity="warning", message=f"{one.message}; not again in a new process")
        for one in first.findings
        if one.kind not in kinds
    )
    return replace(again, findings=again.findings + once)

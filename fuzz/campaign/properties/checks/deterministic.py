"""Determinism: the same input has the same bits in every run of a trial, whatever the order of blocks and threads.

Knows runs and their circumstances; it does not know what is right.
"""

from kfuzz.campaign.properties.property import Examined
from kfuzz.campaign.properties.twins import first_difference
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Finding, Run
from kfuzz.kinds import kinds_with

WORDS = "run-to-run determinism"
EXPLAINS = kinds_with("reads-undefined") | {"race", "unwritten", "stateful"}
"""Errors of these kinds are reported in the place of the difference that they make."""


def is_claimed(kernel: Kernel) -> bool:
    """A batch says nothing about a row that varies by itself: who claims invariance claims this as well."""
    return bool(kernel.claims.deterministic) or kernel.claims.batch_invariant


def why_untested(kernel: Kernel) -> str:
    return ""


def look(trial: Examined) -> Finding | bool | None:
    outcome = trial.outcome
    if any(one.severity == "error" and one.kind in EXPLAINS for one in outcome.findings):
        return None
    seen: dict[int, Run] = {}
    compared = False
    for run in outcome.runs:
        first = seen.setdefault(run.circumstances.multiprocessors, run)  # a grid of another size may round otherwise
        if first is run:
            continue
        compared = True
        left, right = (trial.kernel.outputs(one.outputs, trial.bound.sizes) for one in (first, run))
        if (found := first_difference(left, right)) is not None:
            words = f"{found.left} ({first.circumstances}) or {found.right} ({run.circumstances})"
            return Finding("nondeterministic", f"{found.place} is {words}", array=found.output)
    return True if compared else None

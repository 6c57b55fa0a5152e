"""A hunt: the trials of one kernel, in a campaign's order, until one shows what is wrong with it.

Knows schedules and trials, not what happens to the defect.
"""

from dataclasses import dataclass

from kfuzz.campaign.minimizing.minimize import Failure, point_at_worst
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device
from kfuzz.kinds import Severity

RUNS, TIMEOUT = 3, 5.0


@dataclass(frozen=True)
class Quarry:
    """The result of a hunt: the first trial that failed in that way, `trials` after its beginning."""

    trials: int
    failure: Failure


def hunt(
    kernel: Kernel, kind: str, seed: int, device: Device, most: int, severity: Severity = "error"
) -> Quarry | None:
    """The first of `most` trials that shows a defect of this kind and severity; None if no trial does."""
    for index in range(most):
        attempt, probe = attempt_of(kernel, seed, index), probe_of(kernel, seed, index, RUNS, TIMEOUT)
        trial = run_trial(kernel, attempt.case, attempt.tune, device, probe)
        for defect in trial.defects:
            if (defect.kind, defect.severity) == (kind, severity):
                subject = subject_of(kernel, attempt.case, attempt.tune, probe.check, probe.seed)
                return Quarry(index + 1, Failure(point_at_worst(subject, defect), defect, probe.runs))
    return None

"""Asks a device for a trial's job and, right after it, for the twins with which its answer will be compared.

So the twins run together with the jobs of other trials, while this process judges: to ask for them once the answer is
judged would leave the device idle, and this process would wait for all that was asked for before. Knows devices and
twins; it does not know what an answer means.
"""

from collections.abc import Callable, Sequence
from functools import partial

from kfuzz.campaign.properties.property import RunJobs
from kfuzz.campaign.properties.twins import once
from kfuzz.campaign.trials.trial import PreparedTrial
from kfuzz.devices import Ahead, ClaimError, Device, DeviceError, Job, Outcome, Probe


def queue_job(ahead: Ahead, trial: PreparedTrial) -> None:
    """Queue a trial's job and its twins."""
    ahead.ask(trial.job, trial.probe)
    for job in _twins_of(trial):
        ahead.ask(job, once(trial.probe))


def _twins_of(trial: PreparedTrial) -> list[Job]:
    return [twin.job for twins in trial.twins.values() for twin in twins]


class AskedTwins:
    """The outcomes of the twins that a device was asked for with a trial, whose own outcome has been taken."""

    def __init__(self, device: Device, ahead: Ahead | None, several: RunJobs | None, trial: PreparedTrial) -> None:
        self._device, self._ahead, self._several = device, ahead, several
        self._left = _twins_of(trial)

    def run_jobs(self, jobs: Sequence[tuple[Job, Probe]]) -> Sequence[Callable[[], Outcome]]:
        """The outcomes of jobs: of the twins, which wait here, or of others, which the device runs now."""
        first = self._left[: len(jobs)]
        if len(first) == len(jobs) and all(one is job for one, (job, _) in zip(first, jobs, strict=True)):
            return [self._take() for _ in jobs]
        if self._several is not None and len(jobs) > 1:
            return self._several(jobs)
        return [partial(self._device.run, *one) for one in jobs]

    def drop(self) -> None:
        """Let the device run the twins that have not been asked for; their outcomes do not matter."""
        while self._left:
            self._take()

    def _take(self) -> Callable[[], Outcome]:
        del self._left[0]
        assert self._ahead is not None, "only such a device is asked for twins"
        try:
            outcome = self._ahead.answer()
        except (ClaimError, DeviceError) as error:
            return partial(_raise, error)
        return lambda: outcome


def _raise(error: Exception) -> Outcome:
    raise error

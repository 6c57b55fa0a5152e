"""A backend that begins jobs together. A job's notes say how many began with it; some end what all of them need."""

import os
import signal
from collections.abc import Callable, Sequence

from kfuzz.devices import DeviceError, Finding, Job, Outcome, Probe, TogetherError


class FarSighted:
    """What a job does to others stands in its name."""

    is_spent = False

    def __init__(self) -> None:
        self._begun: list[Job] = []
        self._count = 0

    def look_ahead(self, coming: Sequence[tuple[Job, Probe]], begin: Callable[[str], None]) -> None:
        if self._begun or len(coming) < 2:
            return
        begin("running")
        for job, _ in coming:
            _suffer(job)
        self._begun, self._count = [job for job, _ in coming], len(coming)

    def run(self, job: Job, _probe: Probe, begin: Callable[[str], None]) -> Outcome:
        if self._begun and self._begun[0] is job:
            self._begun.pop(0)
            return Outcome(notes=(f"{job.kernel}, one of {self._count}",))
        begin("running")
        try:
            _suffer(job)
        except TogetherError:
            self.is_spent = True
            return Outcome(findings=(Finding("trap", f"{job.kernel} alone"),), ended=True)
        return Outcome(notes=(f"{job.kernel}, alone",))

    def close(self) -> None:
        """Nothing to give back."""


def _suffer(job: Job) -> None:
    if job.kernel == "traps":
        raise TogetherError
    if job.kernel == "kills":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.kernel == "fails":
        raise DeviceError("no GPU any more")
    while job.kernel == "hangs":
        signal.pause()


def backend() -> FarSighted:
    return FarSighted()

"""Python callables as the search sees them: jobs go to a worker process, and an accusation has to be repeatable.

Knows processes and outcomes; it imports no file of a callable.
"""

from dataclasses import replace

from kfuzz.callables.options import CallableOptions
from kfuzz.devices import Job, Outcome, Probe
from kfuzz.devices.confirming import confirm, is_doubtful
from kfuzz.devices.worker import Worker

GRACE = 60.0
"""Seconds past a time-out: a library's compilation for a new shape does not count as the job's time."""


class PythonDevice:
    """Calls Python callables in one worker process, with arrays in the host's memory or, by name, on the first gpu.

    `guard_all`: on the GPU, guards surround all memory that torch allocates.
    """

    def __init__(self, name: str = "cpu", guard_all: bool = False) -> None:
        self.name = name
        module = ("on_guarded_card" if guard_all else "on_card") if name == "gpu" else "backend"
        self._worker = Worker(f"kfuzz.callables.{module}", grace=GRACE)

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job; one that ends its process is run again in a new one before it is accused."""
        if job.sampling:
            return Outcome()  # a library has no blocks to leave out
        outcome = self._worker.run(job, probe)
        if self._worker.pid is None and is_doubtful(outcome, probe.fatal):
            second = replace(probe, options=(CallableOptions(is_second=True),))
            return confirm(outcome, lambda: self._worker.run(job, second), probe.fatal)
        return outcome

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

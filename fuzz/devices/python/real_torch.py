"""Real torch as a device: it builds extensions and calls them with its tensors, on the GPU that it sees.

Runs in the caller's process, which imports no torch: a worker process does (torch/extensions.py).
"""

import importlib.util

from kfuzz.devices import LAUNCHER, DeviceError, Job, Outcome, Probe
from kfuzz.devices.vendors import vendor
from kfuzz.devices.worker.confirming import confirm, is_doubtful
from kfuzz.devices.worker.worker import Worker

NAME = "torch"
GRACE = 20.0
"""Seconds past a time-out."""


def check_torch() -> None:
    """A DeviceError that names the first missing thing: torch, a GPU, nvcc."""
    if importlib.util.find_spec("torch") is None:
        raise DeviceError("--torch: torch is not installed: pip install torch, or leave --torch out")
    try:
        vendor().check_compiling()
    except DeviceError as error:
        raise DeviceError(f"--torch runs extensions on a GPU, by torch itself: {error}") from None


class RealTorch:
    """Calls PyTorch extensions under PyTorch, in one worker process."""

    name = NAME

    def __init__(self) -> None:
        check_torch()
        self._worker = Worker("kfuzz.devices.python.torch.extensions", grace=GRACE)

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job; one that ends its context is run again in a new process before it is accused."""
        if job.vast or job.runner != LAUNCHER:
            return Outcome()  # it builds extensions, and calls no Python
        outcome = self._worker.run(job, probe)
        if is_doubtful(outcome, ()):
            return confirm(outcome, lambda: self._worker.first(job, probe))
        return outcome

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

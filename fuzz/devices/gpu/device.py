"""The gpu device: it sends jobs to a worker process and confirms findings that end the context.

Knows processes and outcomes; it must not import pycuda.
"""

import functools
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from kfuzz.devices import DeviceError, Job, Outcome, Probe, is_host
from kfuzz.devices.gpu import nvidia, sanitizer
from kfuzz.devices.sanitizing import SanitizerOptions
from kfuzz.devices.worker.confirming import confirm, is_doubtful
from kfuzz.devices.worker.worker import Worker

GRACE = 20.0
"""Seconds after a time-out in which the worker may report which launch hangs."""


def why_not() -> str | None:
    """Why this machine cannot run jobs on a GPU, in one line that says what to do; None when it can."""
    try:
        nvidia.check_machine()
    except DeviceError as error:
        return str(error)
    return None


class GpuDevice:
    """Runs jobs on the first NVIDIA GPU, in a worker process of its own.

    `sanitize`: wherever a probe asks for per-access checking, put compute-sanitizer under a replay. It takes seconds,
    so only a user asks for it; a search does so in a few cases if it is installed (SanitizerOptions).
    """

    name = "gpu"

    def __init__(self, sanitize: bool = False) -> None:
        nvidia.check_installed()  # the worker checks the rest, since it starts the driver anyway
        if sanitize:
            nvidia.find_sanitizer()
        self._sanitize = sanitize
        self._worker = Worker("kfuzz.devices.gpu.launching", grace=GRACE)
        self._asked: deque[tuple[Job, Probe]] = deque()

    def start(self) -> None:
        """Start the worker: sixteen of them have their contexts one after the other, in four seconds."""
        self._worker.begin()

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job; raise only ClaimError or DeviceError."""
        return self._confirmed(job, probe, lambda: self._worker.run(job, probe))

    def run_all(self, jobs: Sequence[tuple[Job, Probe]]) -> list[Callable[[], Outcome]]:
        """Run several jobs with one wait for the GPU, if they can run together."""
        firsts = self._worker.run_all(jobs)
        return [partial(self._confirmed, *one, first) for one, first in zip(jobs, firsts, strict=True)]

    def ask(self, job: Job, probe: Probe) -> None:
        """Queue a job."""
        self._worker.ask(job, probe)
        self._asked.append((job, probe))

    def answer(self) -> Outcome:
        """Return the outcome of the oldest queued job."""
        job, probe = self._asked.popleft()
        return self._confirmed(job, probe, self._worker.answer)

    def forget(self) -> None:
        """Drop all queued jobs."""
        self._worker.forget()
        self._asked.clear()

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def _confirmed(self, job: Job, probe: Probe, first: Callable[[], Outcome]) -> Outcome:
        """Confirm an outcome that ends its context in a new process, unless the kernel is known to do so."""
        outcome = first()
        if is_doubtful(outcome, probe.fatal):
            outcome = confirm(outcome, lambda: self._worker.first(job, probe), probe.fatal)
        if not self._is_watched(job, probe) or any(found.kind == "hang" for found in outcome.findings):
            return outcome  # a hang would also hang under the sanitizer
        return sanitizer.watch_replay(job, probe, outcome)

    def _is_watched(self, job: Job, probe: Probe) -> bool:
        is_wanted = (probe.check and self._sanitize) or (probe.option(SanitizerOptions).sanitize and has_sanitizer())
        return is_wanted and job.vast is None and not any(map(is_host, job.entries))


@functools.cache
def has_sanitizer() -> bool:
    """Whether compute-sanitizer is installed."""
    try:
        nvidia.find_sanitizer()
    except DeviceError:
        return False
    return True

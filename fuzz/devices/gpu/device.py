"""The gpu as the search sees it: jobs go to a worker process, and an accusation has to be repeatable.

Knows processes and outcomes; it must not import pycuda.
"""

import importlib.util
from dataclasses import replace

from kfuzz.devices import DeviceError, Job, Outcome, Probe, is_host
from kfuzz.devices.gpu import driver, nvcc, sanitizer
from kfuzz.devices.kinds import Kind
from kfuzz.devices.worker import Worker

GRACE = 20.0
"""Seconds that the worker has, past a time-out, to say itself which launch hangs."""

FATAL: frozenset[Kind] = frozenset({"hang", "illegal-address", "misaligned", "trap"})
"""Kinds that end a context: what was seen then may be an earlier job's doing."""


def why_not() -> str | None:
    """Why this machine cannot run jobs on a GPU, in one line that says what to do; None when it can."""
    try:
        check_machine()
    except DeviceError as error:
        return str(error)
    return None


def check_machine() -> None:
    """A DeviceError that names the first thing missing: pycuda, driver, card, nvcc, or a match between them."""
    if importlib.util.find_spec("pycuda") is None:
        raise DeviceError("pycuda is not installed: pip install pycuda, or use --device cpu")
    card, compiler = driver.card(), nvcc.find()
    check_release(card, compiler, nvcc.release(compiler))
    nvcc.check_architecture(card.architecture)


def check_release(card: driver.Card, compiler: str, release: tuple[int, int]) -> None:
    """A DeviceError where the driver is of an older major version of CUDA than nvcc, whose code it then refuses."""
    if card.driver_cuda[0] < release[0]:
        has, needs = (".".join(map(str, version)) for version in (card.driver_cuda, release))
        raise DeviceError(
            f"the driver runs CUDA {has} and {compiler} is {needs}: update the driver, or put an older nvcc on PATH"
        )


class GpuDevice:
    """Runs jobs on the first NVIDIA GPU, in a worker process of its own.

    `sanitize`: where a probe asks for per-access checking, put compute-sanitizer under a replay. It takes seconds,
    so it is asked for by a person, never by a search; without it such a probe is like any other.
    """

    name = "gpu"

    def __init__(self, sanitize: bool = False) -> None:
        check_machine()
        if sanitize:
            sanitizer.find()
        self._sanitize = sanitize
        self._worker = Worker("kfuzz.devices.gpu.card", grace=GRACE)

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job; one that ends its context is run again in a new process before it is accused."""
        if probe.watch or job.blocks:
            return Outcome()  # a card does not say who has stored what, and cannot leave out blocks
        outcome = self._worker.run(job, probe)
        if any(found.kind in FATAL for found in outcome.findings):
            outcome = confirmed(outcome, self._worker.run(job, probe))
        if (
            not (probe.check and self._sanitize)
            or any(map(is_host, job.entries))
            or any(found.kind == "hang" for found in outcome.findings)
        ):
            return outcome  # what never ends would not end under the sanitizer either
        return sanitizer.watched(job, probe, outcome)

    def close(self) -> None:
        """End the worker."""
        self._worker.close()


def confirmed(first: Outcome, again: Outcome) -> Outcome:
    """The second outcome; what only the first one showed is a warning."""
    kinds = {found.kind for found in again.findings}
    once = tuple(
        replace(found, severity="warning", message=f"{found.message}; not again in a new process")
        for found in first.findings
        if found.kind not in kinds
    )
    return replace(again, findings=again.findings + once)

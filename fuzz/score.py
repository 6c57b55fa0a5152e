"""How good the search is: every mutant of a kernel, searched like any kernel until its first error.

A mutant has its kernel's name and claim, so its trials are exactly those that its kernel (the control) is given, and
whatever the control does not show, the mutation has caused. Knows mutants and trials; never why a survivor survived.
"""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from fuzz.devices import ClaimError, Device, Job, Outcome, Probe
from fuzz.kernel import Kernel
from fuzz.mutate import Mutant, as_kernel, mutants
from fuzz.schedule import attempt_of, probe_of
from fuzz.trial import Trial, run_trial

Status = Literal["killed", "warned", "survived", "stillborn"]
RUNS = 3
TIMEOUT = 1.0
"""Seconds of processor time. The largest trial of a correct kernel takes a fifth of that, and a mutant that never ends
should not cost a hundred others."""


@dataclass(frozen=True)
class Options:
    """What is asked for. `per_operator`: so many mutants of each operator and kernel, 0 for all that there are."""

    seed: int = 0
    max_cases: int = 300
    per_operator: int = 1


@dataclass(frozen=True)
class Control:
    """What a correct kernel showed: defects (there must be none) and, trial by trial, the bits of its answers."""

    kernel: str
    trials: int
    defects: tuple[str, ...]
    seconds: float
    answers: tuple[str, ...] = field(repr=False)
    buckets: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class Score:
    """What became of a mutant.

    `warned`: no error, but a warning that the control does not show. `trials`: how many it took, the last one being
    the one that killed it; `identical`: not one bit of any answer differed from the control's.
    """

    key: str
    kernel: str
    operator: str
    line: int
    before: str
    after: str
    status: Status
    trials: int
    seconds: float
    kind: str = ""
    bucket: str = ""
    message: str = ""
    identical: bool = False


class Listening:
    """A device that notes the bits of each answer it gives; all else it leaves to the device it stands before."""

    def __init__(self, device: Device) -> None:
        self.name = device.name
        self.answer = ""
        self._device = device

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run the job, and note a hash of the outputs of all its runs."""
        outcome = self._device.run(job, probe)
        digest = hashlib.sha256()
        for run in outcome.runs:
            digest.update(run.label.encode())
            for name in sorted(run.outputs):
                digest.update(run.outputs[name].tobytes())
        self.answer = digest.hexdigest()[:16]
        return outcome

    def close(self) -> None:
        """End the device it stands before."""
        self._device.close()


def chosen(kernel: Kernel, per_operator: int) -> tuple[Mutant, ...]:
    """The mutants of a kernel, at most so many of each operator; which ones, the hashes of their texts decide."""
    every = mutants(kernel)
    if not per_operator:
        return every
    kept: dict[str, list[Mutant]] = {}
    for mutant in sorted(every, key=lambda one: one.key):
        kept.setdefault(mutant.operator, []).append(mutant)
    keys = {mutant.key for some in kept.values() for mutant in some[:per_operator]}
    return tuple(mutant for mutant in every if mutant.key in keys)


def control_of(kernel: Kernel, device: Device, options: Options) -> Control:
    """The unmutated kernel, given every trial that its mutants are given."""
    began = time.perf_counter()
    listening = Listening(device)
    answers: list[str] = []
    defects: dict[str, str] = {}
    for trial in _trials(kernel, kernel, listening, options):
        answers.append(listening.answer)
        defects |= {defect.bucket: f"{defect.severity}: {defect.bucket}: {defect.message}" for defect in trial.defects}
    seconds = time.perf_counter() - began
    return Control(kernel.name, len(answers), tuple(defects.values()), seconds, tuple(answers), frozenset(defects))


def score_of(mutant: Mutant, kernel: Kernel, device: Device, options: Options, control: Control) -> Score:
    """Search a mutant until an error, or until the budget is spent."""
    began = time.perf_counter()
    listening = Listening(device)
    warned: tuple[int, str, str, str] | None = None
    identical, tried = True, 0

    def told(status: Status, trials: int, kind: str = "", bucket: str = "", message: str = "") -> Score:
        seconds, same = time.perf_counter() - began, identical and status == "survived"
        shown = (mutant.key, mutant.kernel, mutant.operator, mutant.line, mutant.before, mutant.after)
        return Score(*shown, status, trials, seconds, kind, bucket, message[:400], same)

    try:
        for trial in _trials(as_kernel(mutant, kernel), kernel, listening, options):
            tried += 1
            identical = identical and listening.answer == control.answers[tried - 1]
            for error in trial.errors[:1]:
                return told("killed", tried, error.kind, error.bucket, error.message)
            for defect in trial.defects:
                if warned is None and defect.bucket not in control.buckets:
                    warned = (tried, defect.kind, defect.bucket, defect.message)
    except ClaimError as error:
        return told("stillborn", tried, message=str(error))
    return told("warned", *warned) if warned else told("survived", tried)


def _trials(kernel: Kernel, original: Kernel, device: Device, options: Options) -> Iterator[Trial]:
    """The trials of a kernel, planned from its original: a plan looks at numbers in the text, too."""
    for index in range(options.max_cases):
        attempt = attempt_of(original, options.seed, index)
        probe = probe_of(original, options.seed, index, RUNS, TIMEOUT)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe)

"""How good the search is: every mutant of a kernel, searched like any kernel until its first error.

A mutant has its kernel's name and claim, so its trials are exactly those that its kernel (the control) is given, and
whatever the control does not show, the mutation has caused. Knows mutants and trials; never why a survivor survived.
"""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device, Job, Outcome, Probe, Run
from kfuzz.kinds import kinds_with
from kfuzz.mutating.mutate import Mutant, as_kernel, mutants
from kfuzz.oracle.arrays import check_inputs, check_outputs
from kfuzz.oracle.elements import OF_DTYPE, values
from kfuzz.oracle.enclosure import Enclosure
from kfuzz.oracle.find import find
from kfuzz.oracle.judge import enclose_answers
from kfuzz.trials.defect import Defect
from kfuzz.trials.trial import Trial, run_trial

Fate = Literal["killed", "warned", "survived", "stillborn"]
BLAMES_DEVICE = kinds_with("blames-device")
RUNS = 3
TIMEOUT = 2.0
"""Seconds of processor time: several times what any trial of a correct kernel takes, and not so long that a mutant
which never ends costs a hundred others."""


@dataclass(frozen=True)
class ScoreOptions:
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
    the one that killed it; `identical`: no error killed it, and no answer differed from the control's in any element
    that is judged, in bits.
    """

    key: str
    kernel: str
    operator: str
    line: int
    before: str
    after: str
    status: Fate
    trials: int
    seconds: float
    kind: str = ""
    bucket: str = ""
    message: str = ""
    identical: bool = False


class AnswerRecorder:
    """A device that notes the bits of each answer it gives; all else it leaves to the device it stands before."""

    def __init__(self, device: Device) -> None:
        self.name = device.name
        self.answer = ""
        self.runs: tuple[Run, ...] = ()
        self._device = device

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run the job, and note a hash of the outputs of all its runs."""
        outcome = self._device.run(job, probe)
        digest = hashlib.sha256()
        for run in outcome.runs:
            digest.update(str(run.circumstances).encode())
            for name in sorted(run.outputs):
                digest.update(run.outputs[name].tobytes())
        self.answer, self.runs = digest.hexdigest()[:16], outcome.runs
        return outcome

    def close(self) -> None:
        """End the device it stands before."""
        self._device.close()


def choose_mutants(kernel: Kernel, per_operator: int) -> tuple[Mutant, ...]:
    """The mutants of a kernel, at most so many of each operator; which ones, the hashes of their texts decide."""
    every = mutants(kernel)
    if not per_operator:
        return every
    kept: dict[str, list[Mutant]] = {}
    for mutant in sorted(every, key=lambda one: one.key):
        kept.setdefault(mutant.operator, []).append(mutant)
    keys = {mutant.key for some in kept.values() for mutant in some[:per_operator]}
    return tuple(mutant for mutant in every if mutant.key in keys)


def control_of(kernel: Kernel, device: Device, options: ScoreOptions) -> Control:
    """The unmutated kernel, given every trial that its mutants are given."""
    began = time.perf_counter()
    listening = AnswerRecorder(device)
    answers: list[str] = []
    defects: dict[str, str] = {}
    for trial in _trials(kernel, kernel, listening, options):
        answers.append(listening.answer)
        defects |= {one.bucket: f"{one.severity}: {one.bucket}: {one.message}" for one in _kernel_defects(trial)}
    seconds = time.perf_counter() - began
    return Control(kernel.name, len(answers), tuple(defects.values()), seconds, tuple(answers), frozenset(defects))


def _kernel_defects(trial: Trial) -> Iterator[Defect]:
    """The defects that say something of it: that a case is too large for the device does not."""
    return (defect for defect in trial.defects if defect.kind not in BLAMES_DEVICE)


def score_of(mutant: Mutant, kernel: Kernel, device: Device, options: ScoreOptions, control: Control) -> Score:
    """Search a mutant until an error, or until the budget is spent."""
    began = time.perf_counter()
    listening = AnswerRecorder(device)
    warned: tuple[int, str, str, str] | None = None
    identical, tried = True, 0

    def told(status: Fate, trials: int, kind: str = "", bucket: str = "", message: str = "") -> Score:
        seconds, same = time.perf_counter() - began, identical and status in ("survived", "warned")
        shown = (mutant.key, mutant.kernel, mutant.operator, mutant.line, mutant.before, mutant.after)
        return Score(*shown, status, trials, seconds, kind, bucket, message[:400], same)

    try:
        for trial in _trials(as_kernel(mutant, kernel), kernel, listening, options):
            tried += 1
            for error in trial.errors[:1]:
                return told("killed", tried, error.kind, error.bucket, error.message)
            for defect in _kernel_defects(trial):
                if warned is None and defect.bucket not in control.buckets:
                    warned = (tried, defect.kind, defect.bucket, defect.message)
            if identical and listening.answer != control.answers[tried - 1]:
                identical = _is_same_where_judged(kernel, trial, listening)
    except ClaimError as error:
        return told("stillborn", tried, message=str(error))
    return told("warned", *warned) if warned else told("survived", tried)


def _is_same_where_judged(kernel: Kernel, trial: Trial, listening: AnswerRecorder) -> bool:
    """Whether the runs of a trial and the control's differ in no element that the claim speaks of, run by run."""
    inputs = trial.case.arrays
    bound = kernel.bind(inputs, trial.tune)
    own = [kernel.outputs(run.outputs) for run in listening.runs]
    listening.run(bound.job, trial.probe)
    others = [kernel.outputs(run.outputs) for run in listening.runs]
    module = find(kernel.op)
    given = check_inputs(kernel.op, module, kernel.stored(inputs))
    if not others:
        return not own
    answers = check_outputs(kernel.op, module, given, others[0])
    with np.errstate(all="ignore"):
        enclosures = enclose_answers(module, given, answers, bound.accuracy, kernel.special, kernel.scalars)
    return len(own) == len(others) and all(
        _differ(mine[role], theirs[role], enclosure) == 0
        for mine, theirs in zip(own, others, strict=True)
        for role, enclosure in enclosures.items()
    )


def _differ(one: NDArray[np.generic], other: NDArray[np.generic], enclosure: Enclosure) -> int:
    """In how many judged elements two answers differ in bits.

    Only the op whose answer is bits asks which NaN it is, and which zero.
    """
    left, right = (np.ascontiguousarray(array).reshape(-1) for array in (one, other))
    differ = left.view(f"u{left.itemsize}") != right.view(f"u{left.itemsize}")
    if not enclosure.bits and left.dtype in OF_DTYPE:
        one_value, other_value = values(left), values(right)
        differ &= ~((one_value == other_value) | (np.isnan(one_value) & np.isnan(other_value)))
    return int(np.count_nonzero(differ & enclosure.judged.reshape(-1)))


def _trials(kernel: Kernel, original: Kernel, device: Device, options: ScoreOptions) -> Iterator[Trial]:
    """The trials of a kernel, planned from its original: a plan looks at numbers in the text, too."""
    for index in range(options.max_cases):
        attempt = attempt_of(original, options.seed, index)
        probe = probe_of(original, options.seed, index, RUNS, TIMEOUT)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe)

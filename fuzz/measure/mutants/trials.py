"""Measures how good the search is: it searches every mutant of a kernel like any kernel until its first error.

A mutant has its kernel's name and claim, so it gets exactly the trials of its kernel (the control), and the mutation
has caused everything that the control does not show. Knows mutants and trials; never why a survivor survived.
"""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.campaign.trials.vast import choose_vast_part, inputs_of_rows
from kfuzz.claims.kernel import Kernel
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import ClaimError, Device, Job, Outcome, Probe, Run
from kfuzz.kinds import kinds_with
from kfuzz.measure.mutants.mutate import Mutant, as_kernel, mutants
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.judge import enclose_answers
from kfuzz.oracle.numbers.elements import OF_DTYPE, values
from kfuzz.oracle.numbers.enclosure import Enclosure
from kfuzz.oracle.op.arrays import check_inputs, check_outputs
from kfuzz.oracle.op.spelling import as_own_outputs, in_own_arrays

Fate = Literal["killed", "warned", "survived", "stillborn"]
BLAMES_DEVICE = kinds_with("blames-device")
RUNS = 3
TIMEOUT = 2.0
"""Seconds of processor time: several times longer than any trial of a correct kernel, but short enough that a mutant
which never ends does not cost a hundred others."""


@dataclass(frozen=True)
class ScoreOptions:
    """The options of a score. `per_operator`: the number of mutants of each operator and kernel, 0 for all."""

    seed: int = 0
    max_cases: int = 300
    per_operator: int = 1


@dataclass(frozen=True)
class Control:
    """The result of a correct kernel: defects (there must be none) and, trial by trial, a hash of its answers."""

    kernel: str
    trials: int
    defects: tuple[str, ...]
    seconds: float
    answers: tuple[str, ...] = field(repr=False)
    buckets: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class Score:
    """The result of a mutant.

    `warned`: it shows no error, but a warning that the control does not show. `trials`: their number; the last one
    killed it. `identical`: no error killed it, and no answer differs from the control's in a bit of a judged element.
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
    """A device that passes each job on to another device, and notes a hash of the answer to the first one.

    A trial may run further jobs, of a part of its rows, to look at properties.
    """

    def __init__(self, device: Device) -> None:
        self.name = device.name
        self.answer = ""
        self.runs: tuple[Run, ...] = ()
        self._device = device

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run the job, and note a hash of the outputs of all its runs if it is the first one."""
        outcome = self._device.run(job, probe)
        if self.answer:
            return outcome
        digest = hashlib.sha256()
        for run in outcome.runs:
            digest.update(str(run.circumstances).encode())
            for name in sorted(run.outputs):
                digest.update(run.outputs[name].tobytes())
        self.answer, self.runs = digest.hexdigest()[:16], outcome.runs
        return outcome

    def forget(self) -> None:
        """Forget the answer: the next job is the first one."""
        self.answer, self.runs = "", ()

    def close(self) -> None:
        """Close the other device."""
        self._device.close()


def choose_mutants(kernel: Kernel, per_operator: int) -> tuple[Mutant, ...]:
    """The mutants of a kernel, at most `per_operator` of each operator; the hashes of their texts decide which ones."""
    every = mutants(kernel)
    if not per_operator:
        return every
    by_operator: dict[str, list[Mutant]] = {}
    for mutant in sorted(every, key=lambda one: one.key):
        by_operator.setdefault(mutant.operator, []).append(mutant)
    keys = {mutant.key for some in by_operator.values() for mutant in some[:per_operator]}
    return tuple(mutant for mutant in every if mutant.key in keys)


def control_of(kernel: Kernel, device: Device, options: ScoreOptions) -> Control:
    """Run every trial of the mutants on the unmutated kernel."""
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
    """The defects of the kernel itself: a case that is too large for the device is not one."""
    return (defect for defect in trial.defects if defect.kind not in BLAMES_DEVICE)


def score_of(mutant: Mutant, kernel: Kernel, device: Device, options: ScoreOptions, control: Control) -> Score:
    """Search a mutant until an error or the end of the budget."""
    began = time.perf_counter()
    listening = AnswerRecorder(device)
    warned: tuple[int, str, str, str] | None = None
    identical, tried = True, 0

    def score(status: Fate, trials: int, kind: str = "", bucket: str = "", message: str = "") -> Score:
        seconds, same = time.perf_counter() - began, identical and status in ("survived", "warned")
        facts = (mutant.key, mutant.kernel, mutant.operator, mutant.line, mutant.before, mutant.after)
        return Score(*facts, status, trials, seconds, kind, bucket, message[:400], same)

    try:
        for trial in _trials(as_kernel(mutant, kernel), kernel, listening, options):
            tried += 1
            for error in trial.errors[:1]:
                return score("killed", tried, error.kind, error.bucket, error.message)
            for defect in _kernel_defects(trial):
                if warned is None and defect.bucket not in control.buckets:
                    warned = (tried, defect.kind, defect.bucket, defect.message)
            if identical and listening.answer != control.answers[tried - 1]:
                identical = _is_same_where_judged(kernel, trial, listening)
    except ClaimError as error:
        return score("stillborn", tried, message=str(error))
    return score("warned", *warned) if warned else score("survived", tried)


def _is_same_where_judged(kernel: Kernel, trial: Trial, listening: AnswerRecorder) -> bool:
    """Whether the runs of a trial and of the control are equal, run by run, in all elements that the claim covers.

    Of a job of vast arrays these are some rows, which have to be the same ones.
    """
    inputs = trial.case.arrays
    bound = kernel.bind(inputs, trial.tune)
    ran = listening.runs
    listening.forget()
    listening.run(choose_vast_part(kernel, trial.case, bound.job, trial.probe.seed), trial.probe)
    own, others = ([kernel.outputs(run.outputs, bound.sizes) for run in runs] for runs in (ran, listening.runs))
    if not others:
        return not own
    chosen = {run.rows for run in (*ran, *listening.runs)}
    if len(chosen) > 1:
        return False
    (rows,) = chosen
    module = find(kernel.op)
    held = inputs_of_rows(kernel, trial.case, rows) if rows else kernel.stored(inputs)
    given = check_inputs(kernel.op, module, held, bound.scalars)
    answers = check_outputs(kernel.op, module, given, others[0], bound.scalars)
    own, others = ([as_own_outputs(module, one) for one in runs] for runs in (own, others))
    module, given, answers = in_own_arrays(module, given, answers)
    with np.errstate(all="ignore"):
        enclosures = enclose_answers(module, given, answers, bound.accuracy, kernel.special, bound.scalars)
    return len(own) == len(others) and all(
        _differ(mine[role], theirs[role], enclosure) == 0
        for mine, theirs in zip(own, others, strict=True)
        for role, enclosure in enclosures.items()
    )


def _differ(one: NDArray[np.generic], other: NDArray[np.generic], enclosure: Enclosure) -> int:
    """The number of judged elements in which two answers differ in bits.

    NaNs count as equal, and so do zeros, except for an op whose answer is bits.
    """
    left, right = (np.ascontiguousarray(array).reshape(-1) for array in (one, other))
    differ = left.view(f"u{left.itemsize}") != right.view(f"u{left.itemsize}")
    if not enclosure.bits and left.dtype in OF_DTYPE:
        one_value, other_value = values(left), values(right)
        differ &= ~((one_value == other_value) | (np.isnan(one_value) & np.isnan(other_value)))
    return int(np.count_nonzero(differ & enclosure.judged.reshape(-1)))


def _trials(kernel: Kernel, original: Kernel, device: AnswerRecorder, options: ScoreOptions) -> Iterator[Trial]:
    """The trials of a kernel, planned from its original, since a plan also uses numbers in the text."""
    for index in range(options.max_cases):
        attempt = attempt_of(original, options.seed, index)
        probe = probe_of(original, options.seed, index, RUNS, time_limits().call or TIMEOUT)
        device.forget()
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe)

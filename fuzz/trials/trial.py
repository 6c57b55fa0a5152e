"""A trial: one case through one kernel on one device, judged. The one place where oracle and devices meet.

Knows kernels, cases, the device protocol and the verdict; never how a case was found or what becomes of a defect.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import Case
from kfuzz.claims.bound import Bound
from kfuzz.claims.expression import show_sizes
from kfuzz.claims.front_matter import shown_path
from kfuzz.claims.kernel import DoesNotFitError, Kernel
from kfuzz.claims.references import named
from kfuzz.devices import Device, Job, Outcome, Probe, Refusal, Run, Untried
from kfuzz.devices.vast import is_vast
from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.verdict import Reason, SpecialRow, Why
from kfuzz.trials.again import earlier_jobs
from kfuzz.trials.beyond import inputs_of_rows, number_rows, sample_blocks
from kfuzz.trials.defect import Defect, Scene
from kfuzz.trials.hints import add_hints
from kfuzz.trials.judging import defects_of, is_suspect
from kfuzz.trials.unjudged import ONLY_ACCESSES, Unjudged

SILENCES = {Why.NAN: "nan", Why.POS_INF: "pos_inf"}
"""Special values that a claim may leave out, and the key that would include them."""

Outputs = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Trial:
    """What came of a trial.

    `axes` are the kernel's own. `rows` and `elements` were judged, `reasons` say what was not. `silences`: of values
    that the case holds and the claim does not speak of (`nan`, `pos_inf`), with which words it could have spoken and
    been kept. `seconds` maps device and oracle to their time. `ended`: it has ended the process that ran it.
    """

    kernel: str
    case: Case
    axes: Mapping[str, int]
    tune: Mapping[str, int]
    device: str
    probe: Probe
    defects: tuple[Defect, ...]
    ratio: float
    rows: int
    elements: int
    reasons: tuple[Unjudged, ...]
    silences: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    ended: bool = False
    untried: Untried | None = None

    @property
    def left_out(self) -> tuple[Unjudged, ...]:
        """What was not judged of the trial, and why; the device's notes if it judged nothing."""
        if self.rows or any(isinstance(one, Refusal) for one in self.reasons):
            return self.reasons
        return (*((self.untried,) if self.untried else ()), *self.notes)

    @property
    def errors(self) -> tuple[Defect, ...]:
        """The defects that make a kernel broken; the rest are warnings."""
        return tuple(defect for defect in self.defects if defect.severity == "error")


class DefectError(AssertionError):
    """A trial found an error: what a test of one's own raises. Each bucket has a class of its own."""


@cache
def error_class(bucket: str) -> type[DefectError]:
    """The exception of a bucket: Hypothesis takes failures of different classes for different bugs."""
    name = "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", bucket))
    return type(f"{name}Error", (DefectError,), {"__doc__": bucket})


def check_trial(trial: Trial) -> None:
    """Raise the exception of the trial's first error; nothing where there is none."""
    for defect in trial.errors:
        raise error_class(defect.bucket)(f"{defect.bucket}: {defect.message} [{trial.case}, {dict(trial.tune)}]")


def unfit(kernel: Kernel, case: Case) -> str:
    """Why the kernel's claim does not speak of this case, in a few words; empty where it does."""
    if not kernel.computes(case.op, case.dimensions):
        return f"it computes {named(kernel.op)}"
    try:
        axes = kernel.axes_of(case.arrays)
    except DoesNotFitError as error:
        return str(error)
    for name, size in axes.items():
        if size not in kernel.axes[name]:
            return f"{name}={size}; it claims {kernel.axes[name]}"
    if not kernel.admits(axes):
        return f"{show_sizes(axes, axes)}; it claims {' and '.join(one.text for one in kernel.where.conditions)}"
    for role, whole in case.arrays.items():
        array = np.array([0, 1], np.float32) if is_vast(whole) else whole
        finite = array[np.isfinite(array)]
        if kernel.finite and np.isinf(array).any():
            return f"{role} has infinities; it claims finite values"
        if kernel.value_range and finite.size:
            low, high = kernel.value_range
            if finite.min() < low or finite.max() > high:
                return f"{role} has {finite.min():g}..{finite.max():g}; it claims {low:g}..{high:g}"
    return ""


def ignore_progress(_: str) -> None:
    """A progress callback that does nothing."""


@dataclass(frozen=True)
class PreparedTrial:
    """A case bound to a kernel: what a device has to run."""

    kernel: Kernel
    case: Case
    tune: Mapping[str, int]
    probe: Probe
    bound: Bound
    job: Job


def prepare(kernel: Kernel, case: Case, tune: Mapping[str, int], probe: Probe) -> PreparedTrial:
    """What a device has to run; raises ClaimError where the claim has no such launch."""
    bound = kernel.bind(case.arrays, tune)
    job = sample_blocks(kernel, case, bound.job, probe.seed)
    job = replace(job, earlier=earlier_jobs(kernel, case, tune, probe, job))
    return PreparedTrial(kernel, case, tune, probe, bound, job)


def run_trial(
    kernel: Kernel,
    case: Case,
    tune: Mapping[str, int],
    device: Device,
    probe: Probe,
    tell: Callable[[str], None] = ignore_progress,
) -> Trial:
    """Run a case and judge each distinct answer once; raises only what the device and the claim may raise.

    `tell` is told what is being done, and how far it is: of a huge case that takes a minute.
    """
    tell(f"running on the {device.name}")
    asked = prepare(kernel, case, tune, probe)
    began = time.perf_counter()
    outcome = device.run(asked.job, probe)
    return judge_outcome(asked, outcome, device.name, time.perf_counter() - began, tell)


def judge_outcome(
    asked: PreparedTrial, outcome: Outcome, device: str, seconds: float, tell: Callable[[str], None] = ignore_progress
) -> Trial:
    """What an outcome comes to, each distinct answer judged once; for so many seconds the device was waited for."""
    kernel, case, tune, probe, bound = asked.kernel, asked.case, asked.tune, asked.probe, asked.bound
    ran = time.perf_counter()
    answers = _distinct(kernel, outcome.runs)
    given = kernel.stored(case.arrays) if answers and not asked.job.sampling else {}
    told = []
    for run, got in answers:
        held = inputs_of_rows(kernel, case, run.rows) if run.rows else given
        claimed = (bound.accuracy, kernel.special, kernel.scalars)
        verdict = judge(kernel.op, held, got, *claimed, lambda done: tell(f"judged {done:.0%}"))
        verdict = add_hints(kernel, held, got, bound.accuracy, verdict)
        told.append((run, number_rows(verdict, got, run.rows) if run.rows else verdict))
    reasons = tuple(dict.fromkeys(reason for _, verdict in told for reason in verdict.reasons))
    refusals = (outcome.refusal,) if outcome.refusal else ()
    defects: tuple[Defect, ...] = ()
    if is_suspect(outcome, told):
        scene = Scene(
            kernel.name,
            shown_path(kernel.path),
            str(case),
            case.elements,
            bound.axes,
            dict(tune),
            probe.check,
            kernel.front.said,
        )
        defects = defects_of(kernel, case, scene, outcome, told)
    ended = time.perf_counter()
    return Trial(
        kernel=kernel.name,
        case=case,
        axes=bound.axes,
        tune=tune,
        device=device,
        probe=probe,
        defects=defects,
        ratio=max((verdict.ratio for _, verdict in told if verdict.status == "kept"), default=0.0),
        rows=(len(told[0][0].rows) or _rows(kernel, case)) if told else 0,
        elements=sum(verdict.judged for _, verdict in told[:1]),
        reasons=(*(_reasons_beyond_int(outcome, bool(told)) if asked.job.sampling else ()), *reasons, *refusals),
        silences=_silences(kernel, case, bound.accuracy, answers[0][1], reasons) if reasons and given else {},
        untried=outcome.untried,
        notes=outcome.notes,
        seconds={"device": seconds, "oracle": ended - ran},
        ended=outcome.ended,
    )


def _reasons_beyond_int(outcome: Outcome, is_judged: bool) -> tuple[Unjudged, ...]:
    """What is left out of a job of more than 2^31 elements."""
    reasons: tuple[Unjudged, ...] = ((outcome.untried,) if outcome.untried else ()) + outcome.notes
    return reasons if reasons or is_judged else (ONLY_ACCESSES,)


def _distinct(kernel: Kernel, runs: tuple[Run, ...]) -> list[tuple[Run, Outputs]]:
    """One run for each different set of output bits."""
    found: list[tuple[Run, Outputs]] = []
    for run in runs:
        got = kernel.outputs(run.outputs)
        if not any(_are_same(got, known) for _, known in found):
            found.append((run, got))
    return found


def _are_same(one: Outputs, other: Outputs) -> bool:
    """Whether the bits are the same; a device may give the very same array for runs that leave the same."""
    return all(one[role] is other[role] or one[role].tobytes() == other[role].tobytes() for role in one)


def _rows(kernel: Kernel, case: Case) -> int:
    """How many independent answers an output has: its rows, or its elements where it has no rows."""
    names = next(iter(kernel.roles.outputs.values()))
    return case.axes.get(names[0], 1) if names else 1


def _silences(
    kernel: Kernel, case: Case, accuracy: Accuracy, got: Outputs, reasons: Iterable[Reason]
) -> dict[str, tuple[str, ...]]:
    """For each special value that the claim is silent of: the words with which it would have been kept here."""
    found: dict[str, tuple[str, ...]] = {}
    for why, key in SILENCES.items():
        if any(reason.why is why for reason in reasons):
            claims = {word: replace(kernel.special, **{key: word}) for word in get_args(SpecialRow)}
            given = kernel.stored(case.arrays)
            verdicts = {w: judge(kernel.op, given, got, accuracy, said, kernel.scalars) for w, said in claims.items()}
            found[key] = tuple(word for word, verdict in verdicts.items() if verdict.status == "kept")
    return found

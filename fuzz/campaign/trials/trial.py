"""A trial: one case through one kernel on one device, judged. The one place where oracle and devices meet.

Knows kernels, cases, the device protocol and the verdict; it does not know how a case was found or a defect is used.
Long, since everything that oracle and devices say of a case is put together here.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from kfuzz.campaign.properties.find_properties import is_reported, look_at
from kfuzz.campaign.properties.property import Examined, Look, RunJob, RunJobs, Twin
from kfuzz.campaign.trials.compiled import compare_other_ways
from kfuzz.campaign.trials.defect import Defect, Scene
from kfuzz.campaign.trials.earlier_calls import earlier_jobs, jobs_of_other_sizes
from kfuzz.campaign.trials.hints import add_hints
from kfuzz.campaign.trials.judging import defects_of, is_accused, is_suspect
from kfuzz.campaign.trials.reference_answer import as_refused, runs_of_reference
from kfuzz.campaign.trials.unjudged import ONLY_ACCESSES, OWN_ANSWER, Unjudged
from kfuzz.campaign.trials.vast import choose_vast_part, inputs_of_rows, number_rows
from kfuzz.cases.case import Case, case_for, numbers_in
from kfuzz.claims.bound import Bound
from kfuzz.claims.kernel import DoesNotFitError, Kernel
from kfuzz.claims.language.expression import show_sizes
from kfuzz.common.printable import shown_path
from kfuzz.common.text.silences import check_silences
from kfuzz.devices import Buffer, Decoy, Device, Job, Outcome, Probe, Refusal, Run, Together, Untried
from kfuzz.devices.cpu.ptx.products import operand_of
from kfuzz.devices.memory.vast import is_vast
from kfuzz.devices.python.probes import decoy_of
from kfuzz.oracle import judge
from kfuzz.oracle.judging.figures import most_ulps
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.judge import is_kept
from kfuzz.oracle.numbers.verdict import Reason, SpecialRow, Verdict, Why
from kfuzz.oracle.sets.special import words_for_nan

SILENCES = {Why.NAN: "nan", Why.POS_INF: "pos_inf"}
"""Special values that a claim may leave out, and the key that would include them."""

Outputs = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, repr=False)
class Trial:
    """The result of a trial.

    `axes` are the kernel's own. `rows` were compared, and `unjudged_rows` of them not judged; `elements`
    were judged; `reasons` say what was not. `ulps`: the largest error of a kept answer, as in a Verdict. `silences`:
    for each special value in the case that the claim does not mention (`nan`, `pos_inf`), the words with which the
    kernel would have been kept. `seconds` maps device and oracle to their time. `ended`: the trial ended the process
    that ran it.
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
    looks: tuple[Look, ...] = ()
    """What it says of the properties that users rely on."""
    unjudged_rows: int = 0
    ulps: float | None = None
    operand: str = ""
    """The format to which the kernel's products round their operands, where a reference says nothing of it."""

    def __repr__(self) -> str:
        found = ", ".join(map(repr, self.defects)) or (f"kept, {self.rows} rows" if self.rows else "not judged")
        return f"<Trial of {self.kernel} on {self.device}: {self.case}: {found}>"

    @property
    def left_out(self) -> tuple[Unjudged, ...]:
        """What was not judged, and why; the device's notes if nothing was judged."""
        if self.rows or any(isinstance(one, Refusal) for one in self.reasons):
            return self.reasons
        return (*((self.untried,) if self.untried else ()), *self.notes)

    @property
    def errors(self) -> tuple[Defect, ...]:
        """The defects that make a kernel broken; the rest are warnings."""
        return tuple(defect for defect in self.defects if defect.severity == "error")


def unfit(kernel: Kernel, case: Case) -> str:
    """Why the kernel's claim does not cover this case, in a few words; empty if it does."""
    if not kernel.computes(case.op, case.dimensions):
        return f"it computes {kernel.op_in_case}"
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
        if role in kernel.roles.integers:
            continue
        array = np.array([0, 1], np.float32) if is_vast(whole) else numbers_in(whole)
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
    """A case bound to a kernel, ready for a device to run."""

    kernel: Kernel
    case: Case
    tune: Mapping[str, int]
    probe: Probe
    bound: Bound
    job: Job
    twins: Mapping[str, Sequence[Twin]] = field(default_factory=dict)
    """By property, the twins that the device was asked for together with the job."""


def prepare(kernel: Kernel, case: Case, tune: Mapping[str, int], probe: Probe) -> PreparedTrial:
    """Bind a case to a kernel. Raises ClaimError if the claim allows no such launch."""
    check_silences(kernel.path, kernel.source, tuple(kernel.flags))
    bound = kernel.bind(case.arrays, tune)
    job = choose_vast_part(kernel, case, bound.job, probe.seed)
    job = replace(job, earlier=earlier_jobs(kernel, case, tune, probe, job))
    return PreparedTrial(kernel, case, tune, probe, bound, job)


def run_trial(
    kernel: Kernel,
    case: Case,
    tune: Mapping[str, int],
    device: Device,
    probe: Probe,
    tell: Callable[[str], None] = ignore_progress,
    looks_at_all: bool = False,
) -> Trial:
    """Run a case and judge each distinct answer once. Raises only what the device and the claim may raise.

    `tell` gets the progress as text: a huge case takes a minute. `looks_at_all`: at properties not claimed, too.
    """
    tell(f"running on the {device.name}")
    asked = prepare(kernel, case, tune, probe)
    began = time.perf_counter()
    outcome = device.run(asked.job, probe)
    asked, outcome = answer_with_own_weights(asked, outcome, device.run)
    seconds = time.perf_counter() - began
    return judge_outcome(asked, outcome, device.name, seconds, device.run, several_of(device), tell, looks_at_all)


def answer_with_own_weights(asked: PreparedTrial, outcome: Outcome, run_job: RunJob) -> tuple[PreparedTrial, Outcome]:
    """Run the trial again with an object's own weights if it does not have those of the case; the refusal is kept.

    A trial at the shape of a benchmark may take a minute: none should end with nothing judged.
    """
    if outcome.refusal is None or not outcome.refusal.is_of_weights:
        return asked, outcome
    own = {role: np.zeros_like(numbers_in(asked.case.arrays[role])) for role in find(asked.kernel.op).weights}
    case = case_for(asked.kernel, {**asked.case.arrays, **own})
    again = prepare(asked.kernel, case, asked.tune, asked.probe)
    return again, replace(run_job(again.job, again.probe), refusal=outcome.refusal)


def several_of(device: Device) -> RunJobs | None:
    """How the device runs several jobs together; None if it cannot."""
    return device.run_all if isinstance(device, Together) else None


def judge_outcome(
    asked: PreparedTrial,
    outcome: Outcome,
    device: str,
    seconds: float,
    run_job: RunJob | None = None,
    run_jobs: RunJobs | None = None,
    tell: Callable[[str], None] = ignore_progress,
    looks_at_all: bool = False,
) -> Trial:
    """Judge each distinct answer of an outcome once; `seconds` is the time that the device took.

    `run_job` runs a reference where the answer is outside its formula, and what properties need; `run_jobs` several
    jobs together, if the device can. `looks_at_all`: at those that are not claimed, too.
    """
    planned, operand = asked, operand_beside(asked, outcome)
    asked = with_operand(asked, operand)
    kernel, case, tune, probe, bound = asked.kernel, asked.case, asked.tune, asked.probe, asked.bound
    ran = time.perf_counter()
    answers = _distinct(kernel, outcome.runs, bound.sizes)
    given = bound.given if answers and not asked.job.vast else {}
    outcome = outcome if asked.job.vast else as_refused(kernel, bound.given, outcome)
    claimed = (bound.accuracy, kernel.special, bound.scalars)
    verdicts = []
    for run, got in answers:
        held = inputs_of_rows(kernel, case, run.rows) if run.rows else given
        verdict = judge(kernel.op, held, got, *claimed, lambda done: tell(f"judged {done:.0%}"))
        verdict = add_hints(kernel, held, got, bound, verdict)
        if run.stale and verdict.is_outside and not is_right_for(run.stale, asked, held, got):
            run = replace(run, stale=None)  # noqa: PLW2901  it is wrong for the earlier input, too
        verdicts.append((run, number_rows(verdict, got, run.rows) if run.rows else verdict))
    reasons = tuple(dict.fromkeys(reason for _, verdict in verdicts for reason in verdict.reasons))
    notes = outcome.notes
    if run_job and is_accused(verdicts) and kernel.reference and is_reference_outside(asked, run_job):
        verdicts, notes = [], (*notes, OWN_ANSWER)
    other = None
    if run_job and verdicts and not asked.job.vast:
        judged = [(got, verdict) for (_, got), (_, verdict) in zip(answers, verdicts, strict=True)]

        def judge_all(ran: Outcome) -> list[tuple[Outputs, Verdict]]:
            own = with_operand(planned, operand_beside(planned, ran)).bound.accuracy
            return [
                (got, judge(kernel.op, given, got, own, *claimed[1:]))
                for _, got in _distinct(kernel, ran.runs, bound.sizes)
            ]

        other = compare_other_ways(asked.job, probe, outcome, judged, run_job, judge_all)
        if other and not other.is_right and kernel.reference and is_reference_outside(asked, run_job):
            other = None
    refusals = (outcome.refusal,) if outcome.refusal else ()
    looks = _look(asked, outcome, device, verdicts, run_job, run_jobs, looks_at_all)
    outcome = _add_failures(kernel, outcome, looks)
    defects: tuple[Defect, ...] = ()
    if other or is_suspect(outcome, verdicts):
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
        defects = defects_of(kernel, case, scene, outcome, verdicts, other)
    ended = time.perf_counter()
    rows = (len(verdicts[0][0].rows) or _rows(kernel, case, verdicts[0][1])) if verdicts else 0
    kept = [verdict for _, verdict in verdicts if verdict.status == "kept"]
    return Trial(
        kernel=kernel.name,
        case=case,
        axes=bound.axes,
        tune=tune,
        device=device,
        probe=probe,
        defects=defects,
        ratio=max((verdict.ratio for verdict in kept), default=0.0),
        rows=rows,
        unjudged_rows=_unjudged_rows(rows, verdicts[0][1]) if verdicts else 0,
        ulps=most_ulps(kept),
        elements=sum(verdict.judged for _, verdict in verdicts[:1]),
        reasons=(*(_reasons_of_vast(outcome, bool(verdicts)) if asked.job.vast else ()), *reasons, *refusals),
        silences=_silences(kernel, bound, answers[0][1], reasons) if reasons and given else {},
        untried=outcome.untried,
        notes=notes,
        seconds={"device": seconds, "oracle": ended - ran},
        ended=outcome.ended,
        looks=looks,
        operand=operand if verdicts else "",
    )


def operand_beside(asked: PreparedTrial, outcome: Outcome) -> str:
    """The format to which the code that ran rounds operands of float32 products, beside a reference: that says what is
    multiplied and not in which unit of a GPU. An op's claim has to say it itself.
    """
    if asked.kernel.reference is None or asked.bound.accuracy.operand is not None:
        return ""
    is_text_run = asked.kernel.front.language.runner.compiles
    return outcome.operand or (operand_of(asked.job) if is_text_run else "")


def with_operand(asked: PreparedTrial, operand: str) -> PreparedTrial:
    """The trial whose products may round their operands to this format, if it is one."""
    if not operand:
        return asked
    return replace(asked, bound=replace(asked.bound, accuracy=replace(asked.bound.accuracy, operand=operand)))


def is_right_for(decoy: Decoy, asked: PreparedTrial, given: Outputs, got: Outputs) -> bool:
    """Whether an answer is right for the input of the call before, which was no other than `given` in this way."""
    kernel = asked.kernel
    elements = {array.reads: array.element for array in kernel.arrays.values()}
    earlier = {
        role: decoy_of(Buffer(role, elements[role], one.shape, content=one), decoy) for role, one in given.items()
    }
    return not judge(kernel.op, earlier, got, asked.bound.accuracy, kernel.special, asked.bound.scalars).is_outside


def _look(
    asked: PreparedTrial, outcome: Outcome, device: str, judged: Sequence[tuple[Run, Verdict]],
    run_job: RunJob | None, run_jobs: RunJobs | None, at_all: bool,
) -> tuple[Look, ...]:  # fmt: skip
    """What the trial says of each property that users rely on: of those that are claimed, or of all."""
    kernel, bound = asked.kernel, asked.bound
    if run_job is None or asked.job.vast or not outcome.runs or outcome.ended:
        return ()

    def judge_answer(case: Case, got: Outputs) -> bool:
        given = kernel.stored(case.arrays)
        return judge(kernel.op, given, got, bound.accuracy, kernel.special, bound.scalars).status != "broken"

    is_right = not is_accused(judged) and all(one.severity != "error" for one in outcome.findings)
    examined = Examined(
        kernel, asked.case, asked.tune, asked.probe, bound, outcome, is_right, run_job, judge_answer, device,
        lambda: jobs_of_other_sizes(kernel, asked.case, asked.tune), run_jobs, asked.twins,
    )  # fmt: skip
    return tuple(look_at(examined, at_all))


def _add_failures(kernel: Kernel, outcome: Outcome, looks: Sequence[Look]) -> Outcome:
    """The outcome with the failures of claimed or expected properties, each in the place of a warning of its kind."""
    failures = [one.finding for one in looks if one.finding and is_reported(kernel, one.name)]
    kinds = {one.kind for one in failures}
    others = [one for one in outcome.findings if one.severity == "error" or one.kind not in kinds]
    return replace(outcome, findings=(*others, *failures)) if failures else outcome


def is_reference_outside(asked: PreparedTrial, run_job: RunJob) -> bool:
    """Whether the answer of the reference itself is outside the formula that was made of it."""
    kernel = asked.kernel
    runs = runs_of_reference(kernel, asked.job, asked.probe, run_job)
    claimed = (asked.bound.accuracy, kernel.special, asked.bound.scalars)
    given = asked.bound.given
    answers = ((run, kernel.outputs(run.outputs, asked.bound.sizes)) for run in runs)
    verdicts = [(run, judge(kernel.op, given, answer, *claimed)) for run, answer in answers]
    return is_accused(verdicts)


def _reasons_of_vast(outcome: Outcome, is_judged: bool) -> tuple[Unjudged, ...]:
    """What was not judged of a job of vast arrays."""
    reasons: tuple[Unjudged, ...] = ((outcome.untried,) if outcome.untried else ()) + outcome.notes
    return reasons if reasons or is_judged else (ONLY_ACCESSES,)


def _distinct(kernel: Kernel, runs: tuple[Run, ...], sizes: Mapping[str, int]) -> list[tuple[Run, Outputs]]:
    """One run for each different set of output bits."""
    found: list[tuple[Run, Outputs]] = []
    for run in runs:
        got = kernel.outputs(run.outputs, sizes, len(run.rows) or None)
        if not any(_are_same(got, known) for _, known in found):
            found.append((run, got))
    return found


def _are_same(one: Outputs, other: Outputs) -> bool:
    """Whether the bits are equal; a device may return one array for several runs with equal answers."""
    return all(one[role] is other[role] or one[role].tobytes() == other[role].tobytes() for role in one)


def _rows(kernel: Kernel, case: Case, verdict: Verdict) -> int:
    """How many independent answers an output has: its rows, or its elements if it has no rows. Those of a fixed size,
    or of one that follows from others, are the op's own.
    """
    names = next(iter(kernel.roles.outputs.values()))
    return case.axes.get(names[0], verdict.rows) if names else 1


def _unjudged_rows(rows: int, verdict: Verdict) -> int:
    """How many of the kernel's rows were not judged; the op's own may be others, of which each is a part of one."""
    return -(-rows * verdict.unjudged_rows // max(1, verdict.rows))


def _silences(kernel: Kernel, bound: Bound, got: Outputs, reasons: Iterable[Reason]) -> dict[str, tuple[str, ...]]:
    """For each special value that the claim does not mention: the words with which the kernel would be kept here."""
    found: dict[str, tuple[str, ...]] = {}
    for why, key in SILENCES.items():
        if any(reason.why is why for reason in reasons):
            words: tuple[Any, ...] = words_for_nan(find(kernel.op)) if key == "nan" else get_args(SpecialRow)
            claims = {word: replace(kernel.special, **{key: word}) for word in words}
            claimed = (kernel.op, bound.given, got, bound.accuracy)
            found[key] = tuple(word for word, said in claims.items() if is_kept(*claimed, said, bound.scalars))
    return found

"""Makes defects from a device's findings and the oracle's verdicts, and leaves out those that another one causes.

Knows findings, verdicts and kernels; it does not know how a job is run.
Long, since each way in which an answer is wrong becomes a defect of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np

from kfuzz.campaign.trials.compiled import OtherAnswer, as_compiled_otherwise
from kfuzz.campaign.trials.defect import WARNING_MARK, WRONG, WRONG_BEYOND, Defect, Scene, cause_of
from kfuzz.cases.case import Case, numbers_in
from kfuzz.claims.kernel import Kernel
from kfuzz.common.printable import one_line
from kfuzz.common.text.headers import sources
from kfuzz.common.text.silences import Silence, silences_in
from kfuzz.devices import Finding, Outcome, Run
from kfuzz.kinds import Kind
from kfuzz.oracle import Verdict
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.numbers.verdict import AnswerKind, Worst

PLACED = ("wrong elements", "zero elements", "permuted", "copied input")
"""Diagnoses of single elements, whose place is part of the error's shape. A wrong denominator has no place."""

INACCURATE: Kind = "inaccurate"
RACING = "answers that depend on the run"
LONGEST_LINE = 60
"""Characters of a line that a bucket holds: enough to tell lines apart."""

Judged = Sequence[tuple[Run, Verdict]]
TextOf = Callable[[str], str]
"""The text of a header, or of the kernel file by an empty name."""


def is_suspect(outcome: Outcome, judged: Judged) -> bool:
    """Whether the outcome has a finding, or a verdict that is broken or inaccurate."""
    return bool(outcome.findings) or is_accused(judged) or any(one.inaccurate is not None for _, one in judged)


def is_accused(judged: Judged) -> bool:
    """Whether one of the verdicts is broken or suspect."""
    return any(verdict.is_outside for _, verdict in judged)


def defects_of(
    kernel: Kernel, case: Case, scene: Scene, outcome: Outcome, judged: Judged, other: OtherAnswer | None = None
) -> tuple[Defect, ...]:
    """Every defect of a trial, the device's first; one for each bucket. What is silenced explains no wrong answer.

    A reference is one way to compute its op, even for a claim that counts additions: it accuses only of what no
    rearrangement gives. `other`: what the text, or code for another target, gives beside the code that has run, if one
    of both is wrong.
    """
    if kernel.reference:
        judged = [(run, _by_reference(verdict)) for run, verdict in judged]
    text = partial(text_of_file, kernel)
    loud = replace(outcome, findings=tuple(one for one in outcome.findings if not silence_of(one, text)))
    made = _oracle_defects(kernel, scene, loud, judged)
    if other:
        made = _beside_other(kernel, scene, made, judged, other)
    answers = [_add_causes(kernel, case, one) for one in made]
    covered = {answer.kind for answer in answers} & {"stateful"}  # a wrong answer says more than one that differs
    unclaimed = (one for one in outcome.findings if not is_claimed(kernel, one))
    findings = (one for one in unclaimed if one.severity == "error" or one.kind not in covered)
    every = [*(device_defect(scene, one, text) for one in findings), *answers]
    return tuple({defect.bucket: defect for defect in reversed(every)}.values())[::-1]


def _beside_other(kernel: Kernel, scene: Scene, made: list[Defect], judged: Judged, other: OtherAnswer) -> list[Defect]:
    """The defects of an answer, of which those that the other one does not share say so, or that of the other alone."""
    if other.is_right:
        return [as_compiled_otherwise(one, other) if is_plain_error(one) else one for one in made]
    verdict = _by_reference(other.verdict) if kernel.reference else other.verdict
    of_other = _wrong(scene, judged[0][0], verdict)
    return [*made, as_compiled_otherwise(of_other, other)] if is_plain_error(of_other) else made


def is_plain_error(defect: Defect) -> bool:
    """Whether an answer is wrong in every run, and no earlier call explains it."""
    return defect.severity == "error" and defect.kind in get_args(AnswerKind) and defect.worst is not None


def _by_reference(verdict: Verdict) -> Verdict:
    return verdict if not verdict.is_outside or verdict.is_beyond_all else replace(verdict, status="suspect")


def _make_suspect(defect: Defect) -> Defect:
    """The defect as a suspect: the claim names no way to compute the op, and another way may be right as well."""
    kind: Kind = "suspect"
    bucket = f"{defect.scene.kernel}: {kind}, {defect.sign}"
    return replace(defect, kind=kind, severity="warning", bucket=bucket, fault=bucket, ratio=None)


def device_defect(scene: Scene, found: Finding, text: TextOf) -> Defect:
    """The defect of a device's finding; its bucket has the text of its line if that is known, else array and side."""
    place, lines, silence = _place(found, text), _lines(found, text), silence_of(found, text)
    if silence:
        found = replace(found, severity="warning")
        place = [*place, "silenced"]
    fault = ", ".join([f"{scene.kernel}: {found.kind}", *place])
    kind = found.kind if found.severity == "error" else f"{found.kind}{WARNING_MARK}"  # never one bucket with an error
    return Defect(
        scene=scene,
        kind=found.kind,
        severity=found.severity,
        bucket=", ".join([f"{scene.kernel}: {kind}", *place]),
        fault=fault,
        message=found.message,
        header=found.file,
        line=found.line,
        multiprocessors=found.multiprocessors,
        finding=found,
        silenced=silence.reason if silence else "",
        causes=tuple(sorted(f"{scene.kernel}: {line}" for line in lines)) or (fault,),
    )


def is_claimed(kernel: Kernel, found: Finding) -> bool:
    """Whether the claim says that this happens: bits that may differ are a warning only where it says nothing."""
    return kernel.claims.deterministic is False and found.kind == "nondeterministic" and found.severity == "warning"


def silence_of(found: Finding, text: TextOf) -> Silence | None:
    """The comment that silences a finding of a device, at one of its lines."""
    for file, line in ((found.file, found.line), (found.other_file, found.other_line)):
        for silence in silences_in(text(file)) if line is not None else ():
            if silence.kind == found.kind and silence.line == line:
                return silence
    return None


def _place(found: Finding, text: TextOf) -> list[str]:
    """What distinguishes a finding from others of its kind. A hang has no place: its thread may be anywhere."""
    if found.kind == "hang":
        return []
    if lines := _lines(found, text):
        return [" / ".join(lines)]
    place = [found.array] if found.array else []
    if found.index is not None and found.kind == "out-of-bounds":
        place.append("before it" if found.index < 0 else "beyond it")
    return place


def _lines(found: Finding, text: TextOf) -> list[str]:
    """The texts of the lines that a finding names, the first in the file first."""
    both = ((found.file, found.line), (found.other_file, found.other_line))
    places = sorted({(file, line) for file, line in both if line is not None})
    return [_line(text(file), line) for file, line in places]


def _add_causes(kernel: Kernel, case: Case, defect: Defect) -> Defect:
    """A wrong answer with its possible causes: if a kernel is wrong for numbers, infinities are no bug of their own."""
    if defect.kind == INACCURATE:
        return replace(defect, causes=(defect.fault,))
    is_finite = defect.worst is None or _is_finite(kernel, case, defect.worst)
    names = (RACING,) if defect.kind == "race" else (WRONG, WRONG_BEYOND) if is_finite else (WRONG_BEYOND,)
    return replace(defect, causes=tuple(cause_of(kernel.name, name) for name in names))


def _is_finite(kernel: Kernel, case: Case, worst: Worst) -> bool:
    """Whether the inputs of an element are finite: those of its row, if rows are independent."""
    names = kernel.roles.outputs[worst.output]
    for role, own in kernel.roles.inputs.items():
        array = numbers_in(case.arrays[role])
        by_row = bool(own and names and own[0] == names[0] and worst.index and len(array) > worst.index[0])
        if not np.isfinite(array[worst.index[0]] if by_row else array).all():
            return False
    return True


def text_of_file(kernel: Kernel, file: str) -> str:
    """The text of the kernel file, or of one of its headers; empty if the header is gone."""
    if not file:
        return kernel.source
    every = sources(kernel.path, kernel.source, kernel.flags)
    return next((one.text for one in every if str(one.path) == file), "")


def _line(source: str, number: int) -> str:
    """A line's text, which stays the same when an edit above changes its number; a repeated text gets `#2`."""
    lines = [" ".join(line.partition("//")[0].split()) for line in source.split("\n")]
    if not 0 < number <= len(lines):  # the source has a #line of its own
        return f"line {number}"
    lines = [line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 3]}..." for line in lines]
    text = lines[number - 1]
    nth = lines[:number].count(text)
    return f"`{one_line(text)}`" + (f" #{nth}" if nth > 1 else "")


def _oracle_defects(kernel: Kernel, scene: Scene, outcome: Outcome, judged: Judged) -> list[Defect]:
    """The defects of the verdicts, without those that a finding of the device explains."""
    if not is_accused(judged):
        return _inaccuracies(scene, judged)
    broken = [(run, verdict) for run, verdict in judged if verdict.is_outside]
    broken = [(run, verdict) for run, verdict in broken if not _is_unwritten(kernel, outcome, verdict)]
    if not broken:
        return []
    if stale := next(((run, verdict) for run, verdict in broken if run.stale), None):
        return [_stale(scene, *stale)]
    if len(broken) < len(judged):
        explained = any(found.severity == "error" for found in outcome.findings)
        by_calls = any(found.kind == "stateful" for found in outcome.findings)
        if not by_calls and not explained and (small := _on_small_gpu(outcome, judged)):
            return [_wrong(scene, *small)]
        unlike = _stateful if kernel.front.language.runner.keeps_state or by_calls else _race
        return [] if explained else [unlike(scene, judged, *broken[0])]
    usual = [(run, verdict) for run, verdict in broken if not run.circumstances.multiprocessors] or broken
    gravest = [pair for pair in usual if pair[1].status == "broken"] or usual
    return [_wrong(scene, *max(gravest, key=lambda pair: pair[1].ratio))]


def _on_small_gpu(outcome: Outcome, judged: Judged) -> tuple[Run, Verdict] | None:
    """The wrong run, if all wrong runs and no right one show the host a GPU of the same unusual size."""
    wrong = {run.circumstances.multiprocessors for run, verdict in judged if verdict.is_outside}
    right = {run.circumstances.multiprocessors for run, verdict in judged if not verdict.is_outside}
    depends = any(found.kind == "nondeterministic" for found in outcome.findings)
    if len(wrong) != 1 or wrong & (right | {0}) or depends:
        return None
    return next((run, verdict) for run, verdict in judged if verdict.is_outside)


def _is_unwritten(kernel: Kernel, outcome: Outcome, verdict: Verdict) -> bool:
    """Whether the unwritten elements explain all the wrong ones."""
    if verdict.worst is None or verdict.extent is None:
        return False
    arrays = {name for name, array in kernel.arrays.items() if array.writes == verdict.worst.output}
    missing = sum(f.count for f in outcome.findings if f.kind == "unwritten" and f.array in arrays)
    return missing >= verdict.extent.wrong


def _race(scene: Scene, judged: Judged, run: Run, verdict: Verdict) -> Defect:
    bucket = f"{scene.kernel}: race, the answer depends on the run"
    return _add_right_run(_by_verdict(scene, run, verdict, "race", bucket, bucket, ""), judged, verdict)


def _stateful(scene: Scene, judged: Judged, run: Run, verdict: Verdict) -> Defect:
    kind: Kind = "stateful"
    bucket = f"{scene.kernel}: {kind}, the answer depends on the run"
    return _add_right_run(_by_verdict(scene, run, verdict, kind, bucket, bucket, ""), judged, verdict)


def _add_right_run(defect: Defect, judged: Judged, verdict: Verdict) -> Defect:
    """The defect with the name of a run whose answer is right."""
    right = next(str(run.circumstances) for run, other in judged if not other.is_outside)
    message = f"wrong in the run '{defect.run}', right in '{right}': {_describe_worst(verdict)}"
    return replace(defect, right_run=right, message=message)


def _stale(scene: Scene, run: Run, verdict: Verdict) -> Defect:
    kind: Kind = "stale"
    bucket = f"{scene.kernel}: {kind}"
    assert run.stale, "the answer is that of an earlier call"
    message = f"the answer of the call before, to an input {run.stale.value}: {_describe_worst(verdict)}"
    return _by_verdict(scene, run, verdict, kind, bucket, bucket, message)


def _wrong(scene: Scene, run: Run, verdict: Verdict) -> Defect:
    assert verdict.kind, "what is broken is of a kind"
    fault = f"{scene.kernel}: {verdict.kind}, {verdict.family}"
    has_place = verdict.diagnosis in PLACED and verdict.region in ("head", "tail")
    bucket = f"{fault}, {verdict.region}" if has_place else fault
    count = run.circumstances.multiprocessors
    gpu = f"; on a GPU with {count} multiprocessors" if count else ""
    defect = _by_verdict(scene, run, verdict, verdict.kind, bucket, fault, _describe_worst(verdict) + gpu)
    defect = replace(defect, multiprocessors=count)
    return _make_suspect(defect) if verdict.status == "suspect" else defect


def _inaccuracies(scene: Scene, judged: Judged) -> list[Defect]:
    """The answer that errs furthest of those that only a fragile form explains, as a warning."""
    found = [(run, one.inaccurate) for run, one in judged if one.inaccurate is not None]
    if not found:
        return []
    run, verdict = max(found, key=lambda pair: pair[1].ratio)
    bucket = f"{scene.kernel}: {INACCURATE}"
    message = _describe_worst(verdict, INACCURATE)
    defect = _by_verdict(scene, run, verdict, INACCURATE, bucket, bucket, message)
    return [replace(defect, severity="warning", ratio=None)]


def _by_verdict(scene: Scene, run: Run, verdict: Verdict, kind: Kind, bucket: str, fault: str, message: str) -> Defect:
    return Defect(
        scene=scene,
        kind=kind,
        severity="error",
        bucket=bucket,
        fault=fault,
        message=message,
        diagnosis=verdict.diagnosis,
        detail=verdict.detail,
        region=verdict.region,
        run=str(run.circumstances),
        worst=verdict.worst,
        extent=verdict.extent,
        picture=verdict.picture,
        ratio=verdict.ratio if verdict.kind == "numeric" and not verdict.is_joint else None,
        is_joint=verdict.is_joint,
    )


def _describe_worst(verdict: Verdict, word: str = "wrong") -> str:
    """The worst element and the diagnosis in one line."""
    said = f"{verdict.diagnosis} ({verdict.detail})" if verdict.detail else verdict.diagnosis
    worst, extent = verdict.worst, verdict.extent
    if worst is None or extent is None:
        return said
    where = f"{worst.output}[{', '.join(map(str, worst.index))}]"
    got = f"{worst.got:.9g} (0x{worst.got_bits})"
    allowed = f"{worst.want:.9g} in [{worst.lo:.9g}, {worst.hi:.9g}]"
    allowed += ", where it lies, but not together with its row" if verdict.is_joint else ""
    return f"{where} is {got}, wanted {allowed}; {said}; {extent.wrong} of {plural(extent.elements, 'element')} {word}"

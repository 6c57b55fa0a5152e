"""A trial: one case through one kernel on one device, judged. The one place where oracle and devices meet.

Knows kernels, cases, the device protocol and the verdict; never how a case was found or what becomes of a defect.
"""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args

import numpy as np
from kfuzz.cases.case import Case
from kfuzz.claims.expression import show_sizes
from kfuzz.claims.kernel import DoesNotFitError, Kernel
from kfuzz.devices import Device, Finding, Outcome, Probe, Run
from kfuzz.devices.kinds import Severity
from kfuzz.oracle import Accuracy, Verdict, judge
from kfuzz.oracle.verdict import SpecialRow
from numpy.typing import NDArray

SILENCES = {"NaN": "nan", "+inf": "pos_inf"}
"""What a claim may be silent of, and the key under which it would speak."""

PLACED = ("wrong elements", "zero elements", "permuted", "copied input")
"""Diagnoses of single elements: where these lie is part of the error's shape. A wrong denominator has no place."""

LONGEST_LINE = 60
"""So much of a line tells it from the others."""

Outputs = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Defect:
    """One finding of a trial, by the device (`finding`) or by the oracle (`verdict`), and its bucket.

    `bucket` is the same for what is taken for the same bug: kernel, kind, diagnosis or the text of the line, and the
    shape of the error. `fault` is the coarser part of it: without the shape, which changes when a case is made smaller,
    and the same for an error and a warning.
    """

    kind: str
    severity: Severity
    bucket: str
    fault: str
    message: str
    diagnosis: str = ""
    region: str = ""
    line: int | None = None
    run: str = ""
    finding: Finding | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Trial:
    """What came of a trial.

    `rows` and `elements` were judged, `reasons` say what was not. `silences`: of values that the case holds and the
    claim does not speak of (`nan`, `pos_inf`), with which words it could have spoken and been kept. `seconds` maps
    device and oracle to their time.
    """

    kernel: str
    case: Case
    tune: Mapping[str, int]
    device: str
    probe: Probe
    defects: tuple[Defect, ...]
    ratio: float
    rows: int
    elements: int
    reasons: tuple[str, ...]
    silences: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    seconds: Mapping[str, float]

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
    if case.op != kernel.op:
        return f"it computes {kernel.op}"
    try:
        axes = kernel.axes_of(case.arrays)
    except DoesNotFitError as error:
        return str(error)
    for name, size in axes.items():
        if size not in kernel.axes[name]:
            return f"{name}={size}; it claims {kernel.axes[name]}"
    if not kernel.admits(axes):
        return f"{show_sizes(axes, axes)}; it claims {' and '.join(one.text for one in kernel.where.conditions)}"
    for role, array in case.arrays.items():
        finite = array[np.isfinite(array)]
        if kernel.finite and np.isinf(array).any():
            return f"{role} has infinities; it claims finite values"
        if kernel.value_range and finite.size:
            low, high = kernel.value_range
            if finite.min() < low or finite.max() > high:
                return f"{role} has {finite.min():g}..{finite.max():g}; it claims {low:g}..{high:g}"
    return ""


def run_trial(kernel: Kernel, case: Case, tune: Mapping[str, int], device: Device, probe: Probe) -> Trial:
    """Run a case and judge each distinct answer once; raises only what the device and the claim may raise."""
    accuracy = kernel.accuracy(kernel.sizes(kernel.axes_of(case.arrays), tune))
    began = time.perf_counter()
    outcome = device.run(kernel.bind(case.arrays, tune), probe)
    ran = time.perf_counter()
    answers = _distinct(kernel, outcome.runs)
    judged = [(run, judge(kernel.op, case.arrays, got, accuracy, kernel.special)) for run, got in answers]
    reasons = dict.fromkeys(reason for _, verdict in judged for reason in verdict.reasons)
    defects = _of_device(kernel, outcome) + _of_oracle(kernel, outcome, judged)
    ended = time.perf_counter()
    return Trial(
        kernel=kernel.name,
        case=case,
        tune=tune,
        device=device.name,
        probe=probe,
        defects=tuple(_first_of_each(defects)),
        ratio=max((verdict.ratio for _, verdict in judged if verdict.status == "kept"), default=0.0),
        rows=_rows(kernel, case) if judged else 0,
        elements=sum(verdict.judged for _, verdict in judged[:1]),
        reasons=tuple(reasons),
        silences=_silences(kernel, case, accuracy, answers[0][1], reasons) if reasons else {},
        notes=outcome.notes,
        seconds={"device": ran - began, "oracle": ended - ran},
    )


def _distinct(kernel: Kernel, runs: tuple[Run, ...]) -> list[tuple[Run, Outputs]]:
    """One run for each different set of output bits."""
    seen: dict[tuple[bytes, ...], tuple[Run, Outputs]] = {}
    for run in runs:
        got = kernel.outputs(run.outputs)
        seen.setdefault(tuple(got[role].tobytes() for role in sorted(got)), (run, got))
    return list(seen.values())


def _rows(kernel: Kernel, case: Case) -> int:
    """How many independent answers an output has: its rows, or its elements where it has no rows."""
    names = next(iter(kernel.roles.outputs.values()))
    return case.axes.get(names[0], 1) if names else 1


def _silences(
    kernel: Kernel, case: Case, accuracy: Accuracy, got: Outputs, reasons: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """For each special value that the claim is silent of: the words with which it would have been kept here."""
    found: dict[str, tuple[str, ...]] = {}
    for name, key in SILENCES.items():
        if any(reason.endswith(f"the claim does not speak of {name}") for reason in reasons):
            claims = {word: replace(kernel.special, **{key: word}) for word in get_args(SpecialRow)}
            verdicts = {w: judge(kernel.op, case.arrays, got, accuracy, said) for w, said in claims.items()}
            found[key] = tuple(word for word, verdict in verdicts.items() if verdict.status == "kept")
    return found


def _first_of_each(defects: list[Defect]) -> list[Defect]:
    return list({defect.bucket: defect for defect in reversed(defects)}.values())[::-1]


def _of_device(kernel: Kernel, outcome: Outcome) -> list[Defect]:
    """The device's own findings, in buckets by what the line says where it knows one, else by array and side."""
    defects = []
    for found in outcome.findings:
        place = _place(kernel, found)
        kind = found.kind if found.severity == "error" else f"{found.kind} (warning)"  # never one bucket with an error
        defects.append(
            Defect(
                kind=found.kind,
                severity=found.severity,
                bucket=", ".join([f"{kernel.name}: {kind}", *place]),
                fault=", ".join([f"{kernel.name}: {found.kind}", *place]),
                message=found.message,
                line=found.line,
                finding=found,
            )
        )
    return defects


def _place(kernel: Kernel, found: Finding) -> list[str]:
    """What tells a finding from others of its kind. A hang has no place: the thread may be anywhere when time is up."""
    if found.kind == "hang":
        return []
    lines = sorted({line for line in (found.line, found.other_line) if line is not None})
    if lines:
        return [" / ".join(_line(kernel.source, line) for line in lines)]
    place = [found.array] if found.array else []
    if found.index is not None and found.kind == "out-of-bounds":
        place.append("before it" if found.index < 0 else "beyond it")
    return place


def _line(source: str, number: int) -> str:
    """A line by its text, which stays when an edit above changes its number; the second of a text has `#2`."""
    lines = [" ".join(line.partition("//")[0].split()) for line in source.split("\n")]
    if not 0 < number <= len(lines):  # the source has a #line of its own
        return f"line {number}"
    lines = [line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 3]}..." for line in lines]
    text = lines[number - 1]
    nth = lines[:number].count(text)
    return f"`{text}`" + (f" #{nth}" if nth > 1 else "")


def _of_oracle(kernel: Kernel, outcome: Outcome, judged: list[tuple[Run, Verdict]]) -> list[Defect]:
    """What the verdicts say, where it is not merely what something the device found has caused."""
    broken = [(run, verdict) for run, verdict in judged if verdict.status == "broken"]
    broken = [(run, verdict) for run, verdict in broken if not _is_unwritten(kernel, outcome, verdict)]
    if not broken:
        return []
    if len(broken) < len(judged):
        explained = any(found.severity == "error" for found in outcome.findings)
        return [] if explained else [_race(kernel, judged, *broken[0])]
    return [_wrong(kernel, *max(broken, key=lambda pair: pair[1].ratio))]


def _is_unwritten(kernel: Kernel, outcome: Outcome, verdict: Verdict) -> bool:
    """Whether elements that nobody wrote are enough to explain all the wrong ones."""
    if verdict.worst is None or verdict.extent is None:
        return False
    arrays = {name for name, array in kernel.arrays.items() if array.writes == verdict.worst.output}
    missing = sum(f.count for f in outcome.findings if f.kind == "unwritten" and f.array in arrays)
    return missing >= verdict.extent.wrong


def _race(kernel: Kernel, judged: list[tuple[Run, Verdict]], run: Run, verdict: Verdict) -> Defect:
    kept = next(other for other, said in judged if said.status != "broken")
    bucket = f"{kernel.name}: race, the answer depends on the run"
    message = f"wrong in the run '{run.label}', right in '{kept.label}': {_told(verdict)}"
    return Defect("race", "error", bucket, bucket, message, run=run.label, verdict=verdict)


def _wrong(kernel: Kernel, run: Run, verdict: Verdict) -> Defect:
    label = re.sub(r"(?<=[x/])[1-9]\d*$", "k", verdict.diagnosis)
    fault = f"{kernel.name}: {verdict.kind}, {label}"
    has_place = verdict.diagnosis in PLACED and verdict.region in ("head", "tail")
    return Defect(
        kind=verdict.kind,
        severity="error",
        bucket=f"{fault}, {verdict.region}" if has_place else fault,
        fault=fault,
        message=_told(verdict),
        diagnosis=verdict.diagnosis,
        region=verdict.region,
        run=run.label,
        verdict=verdict,
    )


def _told(verdict: Verdict) -> str:
    """The worst element and the diagnosis in one line."""
    said = f"{verdict.diagnosis} ({verdict.detail})" if verdict.detail else verdict.diagnosis
    worst, extent = verdict.worst, verdict.extent
    if worst is None or extent is None:
        return said
    where = f"{worst.output}[{', '.join(map(str, worst.index))}]"
    got = f"{worst.got:.9g} (0x{worst.got_bits})"
    allowed = f"{worst.want:.9g} in [{worst.lo:.9g}, {worst.hi:.9g}]"
    return f"{where} is {got}, wanted {allowed}; {said}; {extent.wrong} of {extent.elements} elements wrong"

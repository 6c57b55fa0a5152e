"""The report kfuzz-report/1: one JSON document that says what a campaign did and found.

Everything a person reads of a campaign is rendered from it. Knows campaigns and corpus files; no layout.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypedDict, cast

from kfuzz.campaign.campaign import KernelResult, Result
from kfuzz.campaign.state import Discovery
from kfuzz.cases import atomic, case_file
from kfuzz.cases.case import CaseError
from kfuzz.claims.front_matter import shown_path
from kfuzz.devices.kinds import Severity
from kfuzz.trials.evidence import Evidence
from kfuzz.trials.trial import Defect

SCHEMA: Literal["kfuzz-report/1"] = "kfuzz-report/1"
NOTHING_NEW, FOUND, COULD_NOT, INTERRUPTED = 0, 1, 2, 130

Number = float | str
"""A float, or "nan", "inf" and "-inf" as text, for which JSON has no number."""


class Worst(TypedDict):
    """The element furthest outside its enclosure [lo, hi]; `ratio` is its error over its bound."""

    output: str
    index: list[int]
    got: Number
    want: Number
    lo: Number
    hi: Number
    got_bits: str
    want_bits: str
    ratio: Number | None


class Extent(TypedDict):
    """How many elements are wrong, in which rows (`more_rows` are not listed), and where in the worst row."""

    wrong: int
    elements: int
    rows: list[int]
    more_rows: int
    pattern: str


class Finding(TypedDict):
    """One bucket: what is wrong, how it was seen, and where the case that shows it lies."""

    bucket: str
    kind: str
    diagnosis: str
    severity: Severity
    known: bool
    first_trial: int | None
    count: int
    case: str | None
    minimized: bool
    axes: dict[str, int]
    tune: dict[str, int]
    check: bool
    where: str
    message: str
    words: str
    detail: str
    worst: Worst | None
    extent: Extent | None


class KernelReport(TypedDict):
    """One kernel: how often it was tried, how near to its bound it came, what was found of it.

    `error`: its claim or its source is at fault. `stopped`: why it was not tried to the end. `not_judged`: which
    answers were not judged, and why. `seconds`: where the time went.
    """

    name: str
    op: str
    path: str
    broken: bool
    trials: int
    rows: int
    worst_ratio: float
    error: str
    stopped: str
    not_judged: list[str]
    seconds: dict[str, float]
    findings: list[Finding]


class Report(TypedDict):
    """The document."""

    schema: Literal["kfuzz-report/1"]
    command: list[str]
    seed: int
    device: str
    started: str
    seconds: float
    stop_reason: str
    exit_code: int
    trials: int
    rows: int
    kernels: list[KernelReport]


def report_of(result: Result, command: Sequence[str], device: str, started: datetime) -> Report:
    """The report of a campaign that has ended."""
    return {
        "schema": SCHEMA,
        "command": list(command),
        "seed": result.seed,
        "device": device,
        "started": started.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": round(result.seconds, 3),
        "stop_reason": result.stop_reason,
        "exit_code": exit_code_of(result),
        "trials": result.trials,
        "rows": result.rows,
        "kernels": [_kernel(each) for each in result.kernels],
    }


def exit_code_of(result: Result) -> int:
    """130 interrupted, 1 something new is broken, 2 a kernel cannot be run or nothing was judged, else 0."""
    if result.stop_reason == "interrupted":
        return INTERRUPTED
    if result.news:
        return FOUND
    could_not = any(each.progress.error for each in result.kernels)
    known = any(each.discoveries for each in result.kernels)
    return COULD_NOT if could_not or (not result.rows and not known) else NOTHING_NEW


def _kernel(result: KernelResult) -> KernelReport:
    kernel, progress = result.kernel, result.progress
    return {
        "name": kernel.name,
        "op": kernel.op,
        "path": shown_path(kernel.path),
        "broken": kernel.broken is not None,
        "trials": progress.trials,
        "rows": progress.rows,
        "worst_ratio": progress.worst_ratio,
        "error": progress.error,
        "stopped": progress.retired,
        "not_judged": sorted(progress.reasons),
        "seconds": {part: round(seconds, 3) for part, seconds in sorted(progress.seconds.items())},
        "findings": sorted(map(finding_of, result.discoveries), key=_importance),
    }


def _importance(finding: Finding) -> tuple[bool, bool, int, str]:
    """Errors before warnings, news before what is known, then the order in which they were found."""
    return finding["severity"] != "error", finding["known"], finding["first_trial"] or 0, finding["bucket"]


def finding_of(one: Discovery) -> Finding:
    """A discovery of a campaign as a finding."""
    found = _finding(one.bucket, one.kind, one.diagnosis, one.severity, one.message, one.evidence)
    found |= {"known": one.is_known, "first_trial": one.first_trial, "count": one.count, "axes": dict(one.axes)}
    found |= {"tune": dict(one.tune), "check": one.check, "minimized": one.path is not None and _is_minimized(one.path)}
    return found | {"case": shown_path(one.path) if one.path else None}


def finding_of_defect(
    defect: Defect, evidence: Evidence, axes: Mapping[str, int], tune: Mapping[str, int], case: Path | None
) -> Finding:
    """A defect of a single trial as a finding."""
    found = _finding(defect.bucket, defect.kind, defect.diagnosis, defect.severity, defect.message, evidence)
    return found | {"axes": dict(axes), "tune": dict(tune), "case": shown_path(case) if case else None}


def _finding(bucket: str, kind: str, diagnosis: str, severity: Severity, message: str, evidence: Evidence) -> Finding:
    return {
        "bucket": bucket,
        "kind": kind,
        "diagnosis": diagnosis,
        "severity": severity,
        "known": False,
        "first_trial": None,
        "count": 1,
        "case": None,
        "minimized": False,
        "axes": {},
        "tune": {},
        "check": False,
        "where": str(evidence["where"]),
        "message": message,
        "words": str(evidence["words"]),
        "detail": str(evidence["detail"]),
        "worst": cast(Worst | None, evidence["worst"]),
        "extent": cast(Extent | None, evidence["extent"]),
    }


def _is_minimized(path: Path) -> bool:
    """Whether the case that is kept of a bucket is one that was made smaller before."""
    try:
        origin = case_file.read(path).origin
    except CaseError:
        return False
    return origin is not None and origin.minimized


def errors_of(kernel: KernelReport) -> list[Finding]:
    """What makes the kernel broken, and is no news of a baseline."""
    return [one for one in kernel["findings"] if one["severity"] == "error" and not one["known"]]


def write(path: Path, text: str) -> None:
    """Write a rendering of the report, whole or not at all; where a link leads, and into a pipe as it is."""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, say, which nothing may take the place of
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path.resolve(), text.encode())
    except OSError as error:
        raise CaseError(f"{path}: cannot be written: {error.strerror}") from None


def as_json(report: Report) -> str:
    return json.dumps(report, indent=1, allow_nan=False) + "\n"

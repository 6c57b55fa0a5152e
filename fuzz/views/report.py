"""The report kfuzz-report/1: one JSON document that says what a campaign did and found.

Knows campaigns; how they are shown to a person is in failure, summary and junit, which read the same objects.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

from kfuzz.campaign.campaign import KernelResult, Result
from kfuzz.campaign.state import Discovery
from kfuzz.cases import atomic
from kfuzz.cases.case import CaseError
from kfuzz.claims.front_matter import shown_path
from kfuzz.exit_codes import COULD_NOT, FOUND, INTERRUPTED, NOTHING_NEW
from kfuzz.oracle.verdict import Worst
from kfuzz.trials.defect import Defect

SCHEMA = "kfuzz-report/1"
Table = dict[str, object]


@dataclass(frozen=True)
class Report:
    """A campaign that has ended, by which command, on which device and when."""

    result: Result
    command: tuple[str, ...]
    device: str
    started: datetime

    @property
    def kernels(self) -> tuple[KernelResult, ...]:
        """One for each kernel: its progress, and what was found of it."""
        return self.result.kernels

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 something new is broken, 2 a kernel cannot be run or nothing was judged, else 0."""
        if self.result.stop_reason == "interrupted":
            return INTERRUPTED
        if self.result.news:
            return FOUND
        could_not = any(each.progress.error for each in self.kernels)
        known = any(each.discoveries for each in self.kernels)
        return COULD_NOT if could_not or (not self.result.rows and not known) else NOTHING_NEW


def as_json(report: Report) -> str:
    """The document as text; NaN and infinities, for which JSON has no number, are "nan", "inf" and "-inf"."""
    return json.dumps(document(report), indent=1, allow_nan=False) + "\n"


def document(report: Report) -> Table:
    """The document."""
    result = report.result
    return {
        "schema": SCHEMA,
        "command": list(report.command),
        "seed": result.seed,
        "device": report.device,
        "started": report.started.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": round(result.seconds, 3),
        "stop_reason": result.stop_reason,
        "exit_code": report.exit_code,
        "trials": result.trials,
        "rows": result.rows,
        "kernels": [_kernel(each) for each in result.kernels],
    }


def _kernel(result: KernelResult) -> Table:
    """One kernel: how often it was tried, how near to its bound it came, what was found of it.

    `error`: its claim or its source is at fault. `stopped`: why it was not tried to the end. `not_judged`: which
    answers were not judged, and why. `seconds`: where the time went.
    """
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
        "findings": [_finding(each) for each in result.discoveries],
    }


def _finding(one: Discovery) -> Table:
    """One bucket: what is wrong, how it was seen, and where the case that shows it lies."""
    defect = one.defect
    return {
        "bucket": defect.bucket,
        "kind": defect.kind,
        "diagnosis": defect.diagnosis,
        "severity": defect.severity,
        "known": one.is_known,
        "first_trial": one.first_trial,
        "count": one.count,
        "case": shown_path(one.path) if one.path else None,
        "minimized": one.is_minimized,
        "axes": dict(defect.scene.axes),
        "tune": dict(defect.scene.tune),
        "check": defect.scene.check,
        "where": defect.where,
        "message": defect.message,
        "words": defect.scene.words,
        "detail": defect.detail,
        "worst": _worst(defect.worst, defect) if defect.worst else None,
        "extent": {**asdict(defect.extent), "rows": list(defect.extent.rows)} if defect.extent else None,
    }


def _worst(worst: Worst, defect: Defect) -> Table:
    """The element furthest outside its enclosure [lo, hi]; `ratio` is its error over its bound."""
    told = {**asdict(worst), "index": list(worst.index), "ratio": defect.ratio}
    return {name: str(v) if isinstance(v, float) and not isfinite(v) else v for name, v in told.items()}


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

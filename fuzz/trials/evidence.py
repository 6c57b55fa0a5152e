"""What is shown of a defect: the worst element, how much is wrong, where, and the case in words; ready for JSON.

Knows defects and cases; never how they are laid out for a reader.
"""

from dataclasses import asdict
from math import isfinite
from pathlib import Path

from kfuzz.cases.case import Case
from kfuzz.claims.front_matter import shown_path
from kfuzz.claims.kernel import Kernel
from kfuzz.trials.trial import Defect

Evidence = dict[str, object]


def evidence_of(kernel: Kernel, case: Case, defect: Defect) -> Evidence:
    """The evidence of a defect that this case showed."""
    path = shown_path(kernel.path)
    if Path(path).is_absolute() and path.endswith(f"/{kernel.name}.cu"):
        path = f"{kernel.name}.cu"  # one of ours, wherever it is installed
    where = path + (f":{defect.line}" if defect.line else "")
    found: Evidence = {"where": where, "words": str(case), "detail": "", "worst": None, "extent": None}
    verdict = defect.verdict
    if verdict is None or verdict.worst is None or verdict.extent is None:
        return _sorted(found)
    worst = {name: number(value) for name, value in asdict(verdict.worst).items()}
    worst["index"] = list(verdict.worst.index)
    worst["ratio"] = number(verdict.ratio) if verdict.kind == "numeric" else None
    extent = {**asdict(verdict.extent), "rows": list(verdict.extent.rows[:16])}
    extent["more_rows"] = max(0, len(verdict.extent.rows) - 16)
    return _sorted({**found, "detail": verdict.detail, "worst": _sorted(worst), "extent": _sorted(extent)})


def _sorted(table: Evidence) -> Evidence:
    """In the order in which it comes back from a file."""
    return {name: table[name] for name in sorted(table)}


def number(value: object) -> object:
    """A value for JSON, which has no word for NaN and infinities: those are text."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value

"""One kernel under several versions of Triton: which runs are missing, and what the page says of their findings."""

import json
from pathlib import Path

import pytest

from benchmarks.detection import compilers
from benchmarks.detection.sections.compilers import show
from benchmarks.measurement import Figures, Measurement, Record
from benchmarks.page import lines_of

RACE = {"kind": "race", "severity": "error", "line": 4, "bug": "solution: race"}


def run_of(folder: str, version: str, outcome: str = "judged", findings: tuple[Record, ...] = ()) -> Record:
    origin = {
        "repository": "owner/name",
        "commit": "0123456789ab",
        "path": "a.py",
        "line": 3,
        "name": f"kernel_{folder}",
    }
    why = "no such word" if outcome == "refused" else ""
    return {"folder": folder, "version": version, **origin, "outcome": outcome, "why": why, "findings": list(findings)}


def page_of(*runs: Record) -> list[str]:
    made = Measurement("", "", "", "", Figures({}, {"runs": list(runs)}))
    return list(lines_of(show(made), "", whole=True))


def test_only_kernels_of_which_versions_say_different_things_are_listed() -> None:
    lines = page_of(
        run_of("0", "3.6"), run_of("0", "3.9", "accused", (RACE,)), run_of("1", "3.6"), run_of("1", "3.9"),
        run_of("2", "3.6"), run_of("2", "3.9", "refused"), run_of("3", "3.6"), run_of("3", "3.9", "did not end"),
        run_of("4", "3.6"),
    )  # fmt: skip
    assert "| 3.9 | 4 | 2 | 1 | 1 | 1 |" in lines
    first = lines.index("### Kernels of which the versions say different things")
    listed = lines[first : lines.index("### Every kernel under several versions")]
    assert [one for one in listed if "owner" in one] == [
        "| owner/name: a.py:3 kernel_0 | 3.6: judged. 3.9: race (error) on line 4 |",
        "| owner/name: a.py:3 kernel_2 | 3.6: judged. 3.9: refused: no such word |",
    ]


@pytest.mark.parametrize(
    ("first", "wanted"), [(1, [("b", "3.9")]), pytest.param(2, [("b", "3.9"), ("c", "3.9")], marks=pytest.mark.soak)]
)
def test_a_kernel_without_a_verdict_counts_for_none(first: int, wanted: list[tuple[str, str]], tmp_path: Path) -> None:
    """Of those that are missing, each is refused at once: there is no text to run."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "origin.json").write_text(json.dumps({"name": name}))
    known = [run_of("a", "3.6", "did not end"), run_of("b", "3.6"), run_of("c", "3.6")]
    missing = compilers.missing_rows(tmp_path, {"3.6": "", "3.9": str(tmp_path)}, first, known)
    rows = [(one["folder"], one["version"], one["outcome"]) for one in missing]
    assert rows == [(*one, "refused") for one in wanted]

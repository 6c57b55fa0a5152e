"""References drawn by lot: what a candidate is, the order of a draw, and what a report says of one."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.detection.any_reference import candidates, outcome

TORCH = "import torch\ndef ref_sum(x): return x.sum()\ndef sum_torch(x): return x.sum()\ndef torched(x): return x\n"


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    for name, files in (
        ("a+one", {"t/r.py": TORCH, "n.py": "def ref_none(x): return x\n"}),
        ("b+two", {"r.py": TORCH}),
    ):
        folder = tmp_path / name / "repo"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            subprocess.run((*git, *words), check=True)
    return tmp_path


def test_a_draw_is_the_same_each_time_and_takes_repositories_by_turns(mirrors: Path) -> None:
    names = ["a/one", "b/two", "c/not there"]
    first = candidates(names, mirrors, "D")
    assert first == candidates(names[::-1], mirrors, "D")
    assert sorted((one["repository"], one["path"], one["name"]) for one in first) == [
        (repository, path, name)
        for repository, path in (("a/one", "t/r.py"), ("b/two", "r.py"))
        for name in ("ref_sum", "sum_torch")
    ]
    assert {one["repository"] for one in first[:2]} == {"a/one", "b/two"}
    assert any(candidates(names, mirrors, str(draw)) != first for draw in range(8))


@pytest.mark.parametrize(
    ("rows", "unjudged", "severities", "name"),
    [
        (9, 0, (), "judged"),
        (9, 9, (), "not judged"),
        (9, 0, ("warning",), "warned of"),
        (9, 0, ("warning", "error"), "accused"),
    ],
)
def test_the_outcome_is_that_of_the_report(rows: int, unjudged: int, severities: tuple[str, ...], name: str) -> None:
    findings = [{"severity": each, "bug": "numeric"} for each in severities]
    kernel = {"error": "", "rows": rows, "unjudged_rows": unjudged, "findings": findings, "not_judged": ["a reason"]}
    seen = outcome({"kernels": [kernel]}, "")
    assert (seen["outcome"], seen["judged"]) == (name, rows - unjudged)


def test_without_a_report_the_last_line_of_the_complaint_is_the_reason() -> None:
    assert outcome(None, "loading\nmine.py: cannot be run\nbye")["why"] == "mine.py: cannot be run"

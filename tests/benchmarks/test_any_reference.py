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


def test_the_reason_of_a_refusal_is_the_reports_line_or_the_first_that_names_a_file() -> None:
    said = "[  0.1 s] error: mine.py: one of its findings\nloading\nmine.py: cannot be run\nsee problem.py: not there"
    assert outcome(None, said)["why"] == "mine.py: cannot be run"
    refused = {"kernels": [{"error": "mine.py: it takes no arrays\nmore"}], "unusable": []}
    assert outcome(refused, said)["why"] == "mine.py: it takes no arrays"
    unusable = {"kernels": [], "unusable": ["problem.py: get_inputs ends with ValueError"]}
    assert outcome(unusable, said)["why"] == "problem.py: get_inputs ends with ValueError"

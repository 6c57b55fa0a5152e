"""What judges print becomes decisions, and the page says who is right where they differ."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.detection.judge_rivals import (
    ACCEPTS,
    BY_TEXT,
    JUDGES,
    LOOSE,
    REJECTS,
    SILENT,
    STRICT,
    Judge,
    Said,
    ask,
    exhibits,
    read_kfuzz,
    read_own_test,
    read_ttsem,
)
from benchmarks.detection.kept_lines import read_lines
from benchmarks.detection.sections.judge_rivals import show
from benchmarks.measurement import Figures, Measurement
from benchmarks.page import lines_of


@pytest.mark.parametrize(
    ("printed", "decision"),
    [
        ("verified: 5 trial(s), max abs diff 0  [sizes / 8]\n", ACCEPTS),
        ("verified: 5 trial(s)  [sizes / 8]\nunsafe: out-of-bounds read  [real sizes]\n", REJECTS),
        ("verified: 5 trial(s)  [sizes / 8]\ntoo_slow: 110 s  [real sizes]\n", SILENT),
        ("no_kernel: it launches no kernel  [real sizes]\n", REJECTS),
    ],
)
def test_a_pass_of_ttsem_that_rejects_decides(printed: str, decision: str) -> None:
    assert read_ttsem(printed).decision == decision


@pytest.mark.parametrize(("status", "decision"), [("kept", ACCEPTS), ("broken", REJECTS), ("suspect", SILENT)])
def test_a_suspect_is_no_decision(status: str, decision: str) -> None:
    said = read_kfuzz(f'{{"status": "{status}", "kind": null, "finding": "words"}}\n')
    assert said == Said(decision, f"{status}: words")


def test_an_own_test_that_was_not_asked_says_nothing() -> None:
    assert read_own_test('{"passed": 0, "trials": 0, "why": "it needs a GPU"}') == Said(SILENT, "it needs a GPU")
    assert read_own_test('{"passed": 0, "trials": 1, "why": "must be CUDA tensors"}').decision == SILENT
    assert read_own_test('{"passed": 4, "trials": 5, "why": "no"}') == Said(REJECTS, "4 of 5: no")
    assert read_own_test('{"passed": 5, "trials": 5, "why": ""}').decision == ACCEPTS


@pytest.mark.parametrize(("prints", "decision", "words"), [
    ("print('verified: words')", ACCEPTS, "verified: words"),
    ("raise SystemExit('no such module')", SILENT, "no such module"),
    ("pass", SILENT, "it printed nothing"),
])  # fmt: skip
def test_a_judge_that_prints_no_verdict_says_nothing(tmp_path: Path, prints: str, decision: str, words: str) -> None:
    one = exhibits(tmp_path / "exhibits")[0]
    judge = Judge("other", ("torch",), lambda *_: [sys.executable, "-c", prints], read_ttsem)
    ask(judge, one, argparse.Namespace(keep=tmp_path))
    [found] = read_lines(tmp_path / "decisions.jsonl").values()
    assert (found["decision"], found["words"]) == (decision, words)


def test_exhibits_are_answers_that_do_not_say_what_is_right(tmp_path: Path) -> None:
    made = exhibits(tmp_path)
    assert {one.commit for one in made} == {"cheat", "right twin"}
    assert {path.name for path in (Path(one.path) for one in made)} >= {"keeps_large_answers.py"}
    for one in made:
        text = one.solution.read_text(encoding="utf-8")
        assert ("/// kernel" in text) == (one.language == "cuda")
        assert ("class ModelNew" in text) == (one.language == "torch")


def row(key: str, judge: str, decision: str) -> dict[str, Any]:
    return {"key": key, "language": "torch", "repository": "owner/name", "commit": "1", "file": "a.py", "judge": judge,
            "decision": decision, "words": "a | b", "seconds": 2.0}  # fmt: skip


def test_a_page_says_who_is_right_where_judges_differ() -> None:
    rows = [row("apart", "kfuzz judge", REJECTS), row("apart", STRICT, ACCEPTS), row("apart", LOOSE, SILENT),
            row("same", "kfuzz judge", ACCEPTS), row("same", STRICT, ACCEPTS)]  # fmt: skip
    rows.append(row("same", BY_TEXT, SILENT))
    read = [{"key": "apart", "truth": "wrong", "why": "off by one"}]
    made = Measurement("", "", "", "", Figures({"seconds": 120.0}, {"decisions": rows, "float64": [], "read": read}))
    text = "\n".join(lines_of(show(made), "", whole=True))
    assert "1 of 2 answers. Which" in text
    assert f"| apart | {STRICT} | kfuzz judge | {LOOSE} | wrong: off by one |" in text
    assert f"| {STRICT} | 0 | 1 | 0 |" in text
    assert "| kfuzz judge | 1 | 0 | 0 |" in text


def test_judges_have_names_of_their_own() -> None:
    assert len({one.name for one in JUDGES}) == len(JUDGES)

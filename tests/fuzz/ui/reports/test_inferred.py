"""What kfuzz inferred of a claim, and what would change the verdict, in every way in and every report."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from paths import KERNELS

from kfuzz.claims.kernel import load
from kfuzz.ui.reports.inferred import BY_ANSWERS, BY_DEVICE, IF_KEPT, inferred_claim, inferred_texts

WRONG = """import numpy as np


def forward(x):
    return x.sum(-1) + np.float32(1)
"""
CLAIMED = '# /// kernel\n# op = "row_sum"\n# ///\n' + WRONG


def kfuzz(folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_a_claim_that_says_all_has_no_such_line() -> None:
    kernel = load(KERNELS / "softmax" / "naive_block.cu")
    assert inferred_claim(kernel, {"numeric"}) is None
    assert not list(inferred_texts(kernel.name, None))


def test_what_would_change_a_verdict_depends_on_the_findings(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CLAIMED)
    kernel = load(path)
    by_kinds = [inferred_claim(kernel, kinds) for kinds in (["numeric", "out-of-bounds"], ["out-of-bounds"], [])]
    assert [one and one["would_change"] for one in by_kinds] == [BY_ANSWERS, BY_DEVICE, IF_KEPT]
    assert by_kinds[0]
    assert by_kinds[0]["parts"] == ["axes and arrays of row_sum", "functions as accurate as those of numpy"]


@pytest.mark.soak
def test_fuzz_replay_and_pytest_say_once_what_is_inferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(WRONG)
    fixed = ("--device", "cpu", "--max-cases", "3", "--seed", "1", "--jobs", "1")
    outputs = ("--json", "run.json", "--html", "run.html")
    line = "mine: inferred, not written: arrays, sizes and call of row_sum, from --op row_sum and the text; "
    command = ("-m", "kfuzz", "fuzz", "mine.py", "--op", "row_sum", *fixed, "--corpus", "kept")
    reported = kfuzz(tmp_path, *command, *outputs, "--verbose")
    assert reported.count(line) == 1
    assert "Wrong answers are judged by these" in reported
    (entry,) = json.loads((tmp_path / "run.json").read_text())["kernels"]
    assert entry["inferred"]["would_change"] == BY_ANSWERS
    assert "inferred, not written: arrays, sizes and call of row_sum" in (tmp_path / "run.html").read_text()
    again = kfuzz(tmp_path, "-m", "kfuzz", "replay", "kept", "--kernel", "mine.py", "--op", "row_sum")
    assert again.count(line) == 1
    (tmp_path / "mine.py").write_text(CLAIMED)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    test = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--kfuzz", "--kfuzz-cases", "3", "mine.py")
    monkeypatch.setenv("CI", "true")  # makes pytest show whole messages in its short summary
    tested = kfuzz(tmp_path, *test)
    assert tested.count("mine: inferred, not written: axes and arrays of row_sum; functions as") == 1
    assert "FAILED mine.py::fuzz - BROKEN  mine: numeric, " in tested

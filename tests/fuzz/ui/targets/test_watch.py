"""`kfuzz fuzz --watch`: changed files run again, also after a changed header, and Ctrl-C loses nothing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from kfuzz.claims.kernel import KERNELS
from kfuzz.ui.commands.group import main
from kfuzz.ui.targets.watch import changes

GOOD = (KERNELS / "reduce" / "warp_sum_down.cu").read_text()
WRONG = GOOD.replace("offset /= 2", "offset /= 4")


def test_all_files_are_given_at_first_and_then_those_that_change_or_whose_headers_do(tmp_path: Path) -> None:
    one, two, header = tmp_path / "one.cu", tmp_path / "two.cu", tmp_path / "two.cuh"
    one.write_text("1")
    two.write_text('#include "two.cuh"\n')
    header.write_text("")
    steps = iter([lambda: header.write_text("new"), lambda: None, one.unlink, lambda: one.write_text("11")])
    found = changes(lambda: [one, two], lambda _: next(steps)())
    assert list(islice(found, 3)) == [[one, two], [two], [one]]


def test_what_changes_while_a_file_is_worked_on_is_given_next(tmp_path: Path) -> None:
    path = tmp_path / "one.cu"
    path.write_text("1")
    found = changes(lambda: [path], lambda _: pytest.fail("nothing is left to wait for"))
    assert next(found) == [path]
    path.write_text("two")
    assert next(found) == [path]


def test_watch_has_no_state_to_go_on_from_and_wants_files_that_are_there(tmp_path: Path) -> None:
    for words in (["--out", str(tmp_path)], ["--since", "HEAD"], ["--shard", "1/2", "--seed", "1"]):
        assert CliRunner().invoke(main, ["fuzz", "softmax", "--watch", *words]).exit_code == 2
    assert CliRunner().invoke(main, ["fuzz", str(tmp_path / "nothing.cu"), "--watch", "--device", "cpu"]).exit_code == 2


def until(lines: Iterator[str], word: str) -> str:
    """The lines up to the first that has a word; an error where the program ends before."""
    read = []
    for line in lines:
        read.append(line)
        if word in line:
            return "".join(read)
    raise AssertionError("".join(read))


def saved(path: Path, text: str) -> None:
    """Put a whole new file in the place of the old one, as editors do."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


@pytest.mark.slow
def test_a_file_is_run_again_when_it_is_saved_and_ctrl_c_keeps_what_was_found(tmp_path: Path) -> None:
    path, page = tmp_path / "mine.cu", tmp_path / "run.json"
    path.write_text(GOOD)
    words = ["fuzz", "mine.cu", "--watch", "--device", "cpu", "--max-cases", "6", "--jobs", "1", "--seed", "7"]
    words += ["--json", str(page)]
    run = [sys.executable, "-m", "kfuzz", *words]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(run, cwd=tmp_path, env=os.environ, text=True, **both) as process:  # type: ignore[call-overload]
        lines = iter(process.stdout)
        assert "nothing found" in until(lines, "watching")
        try:
            saved(path, WRONG)
            assert "BROKEN  mine: " in until(lines, "watching")
            saved(path, WRONG.replace("// ///\n", "//\n", 1))
            assert "mine.cu:" in until(lines, "watching")
        finally:  # or nothing would end it
            process.send_signal(signal.SIGINT)
            process.communicate()
    assert process.returncode == 130
    assert json.loads(page.read_text())["exit_code"] == 1
    assert len(list((tmp_path / "tests" / "corpus").rglob("*.json"))) >= 1

"""`kfuzz judge` with several answers: a line for each as it comes, and an interruption prints those that are there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from verdict_server import NO_PYTHON, RIGHT, SLOW, WRONG

from kfuzz.common.errors import TargetError
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.serving.batch import answers_in

needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


def judging(folder: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "kfuzz", "judge", *words, "--op", "row_sum", "--budget", "1", "--jobs", "2"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env={**os.environ}, stdout=pipe, stderr=pipe, text=True)


def test_a_folder_stands_for_all_answers_below_it_but_the_reference(tmp_path: Path) -> None:
    files = ("b.py", "a/a.cu", "a/c.ptx", "a/notes.txt", ".hidden/d.py", "problem.py", "task/reference.py")
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    every = ("a/a.cu", "a/c.ptx", "b.py", "problem.py", "task/reference.py")

    def found(reference: Path | None, *targets: Path) -> tuple[str, ...]:
        return tuple(Path(one).relative_to(tmp_path).as_posix() for one in answers_in(targets, reference))

    assert found(None, tmp_path) == every
    assert found(tmp_path / "problem.py", tmp_path) == tuple(one for one in every if one != "problem.py")
    assert found(tmp_path / "task", tmp_path) == every[:-1]
    assert found(None, tmp_path / "b.py", tmp_path) == ("b.py", *(one for one in every if one != "b.py"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(TargetError, match="no answer is below it"):
        found(None, tmp_path / "empty")


@needs_sandbox
@pytest.mark.slow(5)
def test_each_answer_is_a_line_and_the_exit_code_is_that_of_the_worst(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    for name, text in (("right", RIGHT), ("wrong", WRONG), ("none", NO_PYTHON)):
        (tmp_path / "answers" / f"{name}.py").write_text(text)
    with judging(tmp_path, "answers", "no_such.py") as process:
        said, errors = process.communicate()
    found = {one["answer"]: one["status"] for one in map(json.loads, said.splitlines())}
    assert found == {"answers/right.py": "kept", "answers/wrong.py": "broken", "answers/none.py": "cannot run"}
    assert (process.returncode, errors.count("\n"), errors.startswith("no_such.py: ")) == (1, 1, True), errors


@needs_sandbox
@pytest.mark.slow(3)
def test_what_no_answer_can_do_without_is_one_line(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(RIGHT)
    with judging(tmp_path, ".", "--device", "gpu") as process:
        said, errors = process.communicate()
    assert (process.returncode, said, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("the gpu device has no sandbox")


@needs_sandbox
@pytest.mark.slow(5)
def test_an_interrupted_batch_prints_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RIGHT)
    for one in range(6):
        (tmp_path / f"slow{one}.py").write_text(SLOW)
    with judging(tmp_path, ".") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate()
    assert (first["answer"], first["status"]) == ("a.py", "kept")
    assert all(json.loads(line)["status"] == "kept" for line in rest.splitlines())
    assert len(rest.splitlines()) < 6
    assert (process.returncode, errors) == (130, "")

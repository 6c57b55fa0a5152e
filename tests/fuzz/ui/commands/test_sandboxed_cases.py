"""`kfuzz replay` and `minimize` in a sandbox: what a kernel does to files, and which files it is let in with."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from kfuzz.cases import case_file
from kfuzz.cases.case import Record, case_of
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.commands.group import main

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox"), pytest.mark.slow(3)]

ANSWER = """import numpy as np


def f(x):
    try:
        open({made!r}, "w").close()
    except OSError:
        pass
    return 0 * x.sum(1)
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/mine.py").write_text(ANSWER.format(made=str(tmp_path / "made")))
    case_file.write(tmp_path / "case.json", Record(case_of("row_sum", {"x": np.ones((2, 3), np.float32)})))
    return tmp_path / "case.json"


def run(command: str, case: Path, *more: str) -> Result:
    words = [command, str(case), "--kernel", "answers/mine.py", "--op", "row_sum", "--device", "cpu", *more]
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(("command", "code"), [("replay", 1), ("minimize", 0)])
def test_a_kernel_writes_no_file_in_the_sandbox_and_the_case_still_fails(command: str, code: int, case: Path) -> None:
    made, more = case.parent / "made", ("--max-time", "2s") if command == "minimize" else ()
    boxed = run(command, case, "--sandbox", *more)
    assert (boxed.exit_code, made.exists()) == (code, False), boxed.output
    assert "0 where" in boxed.output or "broken" in boxed.output
    assert run(command, case, "--no-sandbox", *more).exit_code == code
    assert made.exists()


def test_a_sandbox_needs_the_files_that_it_lets_in(case: Path) -> None:
    for command in ("replay", "minimize"):
        done = CliRunner().invoke(main, [command, str(case), "--sandbox", "--device", "cpu"])
        assert done.exit_code == 2
        assert "--sandbox needs --kernel" in done.output

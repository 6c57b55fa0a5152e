"""What the README shows is true: its test of a user's own kernel passes on a right kernel and fails on a wrong one."""

import subprocess
import sys
from pathlib import Path

import pytest
from kfuzz.find.template import template

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize(("edit", "failed"), [("", 0), ("2 * ", 1)])
def test_the_test_of_a_users_own_kernel(tmp_path: Path, edit: str, failed: int) -> None:
    text = README.read_text()
    start = text.index("```python") + len("```python\n")
    (tmp_path / "test_mine.py").write_text(text[start : text.index("```", start)])
    kernel = template("softmax")
    assert "+= expf(" in kernel
    (tmp_path / "mine.cu").write_text(kernel.replace("+= expf(", f"+= {edit}expf("))
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == failed, done.stdout


def test_the_commands_of_its_session_exist() -> None:
    named = {line.split()[2] for line in README.read_text().splitlines() if line.startswith("    $ kfuzz ")}
    for command in {word.rstrip(";") for word in named}:
        run = [sys.executable, "-c", "from kfuzz.commands.group import main; main()", command, "--help"]
        assert subprocess.run(run, capture_output=True, check=False).returncode == 0, command

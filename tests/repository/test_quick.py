"""The count that keeps `make quick` quick: it measures the cost of each test, and names those that cost too much."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from paths import TESTS
from quick import Quick, summary

CONFTEST = """
from quick import Quick


def pytest_configure(config):
    for name in ("slow", "plain"):
        config.addinivalue_line("markers", name)
    config.pluginmanager.register(Quick(most=0.5))
"""
BURN = "from quick import processor_time\nuntil = processor_time() + 0.3\nwhile processor_time() < until: pass"
BUSY = f"""
import subprocess
import sys

import pytest
from quick import processor_time

@pytest.mark.{{mark}}
def test_busy_itself():
    exec({BURN!r})


@pytest.mark.{{mark}}
def test_busy_by_another_process():
    subprocess.run([sys.executable, "-c", {BURN!r}], check=True)


def test_idle():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "processes", "named", "counted"),
    [pytest.param("plain", 2, True, 3, marks=pytest.mark.soak), ("slow", 0, False, 1)],
)
def test_tests_that_cost_too_much_are_named_unless_they_are_marked(
    tmp_path: Path, mark: str, processes: int, named: bool, counted: int
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_busy.py").write_text(BUSY.format(mark=mark))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(processes), "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS / "helpers")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert (done.returncode, f"make quick runs {counted} of these tests" in done.stdout) == (0, True), done.stdout
    assert ("test_busy.py::test_busy_by_another_process" in done.stdout) == named


def test_what_fits_is_not_too_much() -> None:
    assert "more than" not in summary(Counter({"a": 60.0, "b": 59.0}), 120.0)
    assert "more than 120; " in summary(Counter({"a": 60.0, "b": 61.0}), 120.0)


def test_a_process_that_was_killed_hands_nothing_over_and_ends_no_run() -> None:
    """xdist starts another one for it; the count of its seconds was an internal error, which ended the run."""
    count = Quick()
    count.pytest_testnodedown(SimpleNamespace())  # type: ignore[arg-type]  # as xdist has it then
    count.pytest_testnodedown(SimpleNamespace(workeroutput={"quick": {"a": 1.0}}))
    assert count.spent == {"a": 1.0}

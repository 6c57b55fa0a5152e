"""Processes that stay up and answer questions."""

import gc
import signal
import warnings
from pathlib import Path
from types import FrameType

import pytest

from kfuzz.common.serving import NoAnswerError, ask

SERVER = """
import sys
import time

for line in sys.stdin:
    time.sleep(60 if line == "slow\\n" else 0)
    print("done", flush=True)
"""
SAYING_WHO = """
import os
import sys
from pathlib import Path

for line in sys.stdin:
    if line == "end\\n":
        sys.exit("it ends")
    Path(line.strip()).write_text(str(os.getpid()))
    print("done", flush=True)
"""


@pytest.fixture(autouse=True)
def no_garbage_of_other_tests() -> None:
    """A file that another test has left open would be a warning here, once it is collected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_a_question_that_is_interrupted_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process would answer the next question as if it were this one, or hold its memory until the end."""
    (tmp_path / "answering.py").write_text(SERVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ask("answering", Path("fast"), 30)  # it is up when the interrupt comes, however busy the machine is
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            ask("answering", Path("slow"), 60)
    finally:
        signal.signal(signal.SIGALRM, before)
    ask("answering", Path("fast"), 30)


def test_a_process_that_ends_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others were forgotten while they were running: `ResourceWarning: subprocess 21411 is still running`."""
    for module in ("staying", "ending"):
        (tmp_path / f"{module}.py").write_text(SAYING_WHO)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said = tmp_path / "staying"
    ask("staying", said, 30)
    first = said.read_text()
    with pytest.raises(NoAnswerError):
        ask("ending", Path("end"), 30)
    ask("staying", said, 30)
    assert said.read_text() == first


def interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt

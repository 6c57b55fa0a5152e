"""Processes that stay up and answer questions."""

import signal
from pathlib import Path
from types import FrameType

import pytest

from kfuzz.claims.references.serving import ask

SERVER = """
import sys
import time

for line in sys.stdin:
    time.sleep(60 if line == "slow\\n" else 0)
    print("done", flush=True)
"""


def test_a_question_that_is_interrupted_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process would answer the next question as if it were this one, or hold its memory until the end."""
    (tmp_path / "answering.py").write_text(SERVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            ask("answering", Path("slow"), 60)
    finally:
        signal.signal(signal.SIGALRM, before)
    ask("answering", Path("fast"), 30)


def interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt

"""Verdict after verdict, a server holds as many processes, open files and folders as before, and no more memory."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from verdict_server import FORGING, NO_PYTHON, RIGHT, WRONG, RunningServer, held_until, judges_of, serving

from kfuzz.devices import processes
from kfuzz.devices.memory.machine_memory import resident_bytes
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.serving.pool import MOST_RESIDENT

LEAVES = "import os\n\n\ndef f(x):\n    os._exit(0)\n"
CASES = ((RIGHT, "kept"), (WRONG, "broken"), (FORGING, "misbehaved"), (NO_PYTHON, "cannot run"), (LEAVES, "broken"))
SEVERAL = 5
"""Of each kind, after which each process has started all that it keeps."""


def ask_all(server: RunningServer, first: int, count: int) -> None:
    """Let it judge answers of all kinds, each with a text of its own."""
    answers = []
    wanted = {}
    for number in range(first, first + count):
        text, wanted[number] = CASES[number % len(CASES)]
        answers.append({"id": number, "answer": "a.py", "text": f"{text}# {number}\n"})
    _, lines = server.ask({"answers": answers, "op": "row_sum", "budget": 1})
    assert {one["id"]: one["status"] for one in lines} == wanted


def held_by(server: RunningServer, cache: Path) -> dict[str, int]:
    """What it holds: processes, open files, and folders of answers."""
    every = [server.process.pid, *processes.descendants(server.process.pid)]
    files = 0
    for pid in every:
        with suppress(FileNotFoundError):  # it has ended meanwhile
            files += len(os.listdir(f"/proc/{pid}/fd"))
    return {"processes": len(every), "files": files, "folders": len(list((cache / "building").iterdir()))}


def more_than(before: dict[str, int], now: dict[str, int]) -> dict[str, int]:
    """What it holds more of than before: a file that was about to be closed then is no leak."""
    return {name: count for name, count in now.items() if count > before[name]}


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")
@pytest.mark.parametrize(
    ("count", "jobs"),
    [pytest.param(12, 1, marks=pytest.mark.slow(5)), pytest.param(1000, 2, marks=pytest.mark.soak)],
)
def test_a_server_holds_after_many_verdicts_what_it_held_before(tmp_path: Path, count: int, jobs: int) -> None:
    with serving(tmp_path, "--jobs", str(jobs)) as server:
        ask_all(server, 0, SEVERAL * len(CASES) * jobs)
        held = partial(held_by, server, tmp_path / "cache")
        server.wait_until(judging=0)
        before = held_until(held, lambda now: now["folders"] == 0)
        judges = judges_of(server.process.pid)
        ask_all(server, 1000, count)
        after = held_until(held, lambda now: not more_than(before, now))
        assert not more_than(before, after)
        assert judges_of(server.process.pid) == judges
        assert max(map(resident_bytes, (server.process.pid, *judges))) < MOST_RESIDENT
        assert server.health()["lost"] == 0

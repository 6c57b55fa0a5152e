"""The queue and its processes: what is killed is tried again alone, what is full says so, and nothing is judged by what
a process has loaded before."""

import fcntl
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from verdict_server import RIGHT, SLOW, WAIT, judges_of

from kfuzz.campaign.answers import JudgingTerms
from kfuzz.devices import DeviceError, processes
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.serving.bench import ABANDONED, JudgingError
from kfuzz.ui.serving.http_front import VerdictServer
from kfuzz.ui.serving.pool import JudgingPool, QueueFullError
from kfuzz.ui.serving.requests import JudgingRequest

pytestmark = [
    pytest.mark.slow(3),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox"),
]
TERMS = JudgingTerms(budget=1.0)
KILLS_ITS_JUDGE = """import fcntl
import multiprocessing
import os
import signal
import sys


def _parent_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])


def f(x):
    os.kill(_parent_of(os.getppid()), signal.SIGKILL)
    return x.sum(1)
"""
OP = """INPUTS = {{"x": "float[rows, cols]"}}
OUTPUTS = {{"y": "float[rows]"}}


def formula(N, x):
    return N.sum(x, "row") * {times}
"""


def request_for(text: str, op: str = "row_sum", is_sandboxed: bool = True) -> JudgingRequest:
    return JudgingRequest("a.py", text, op, "", TERMS, "cpu", is_sandboxed)


def test_an_answer_that_ends_its_judge_twice_cannot_run_and_the_others_are_judged() -> None:
    with JudgingPool(2) as one:
        deadly = one.submit(request_for(KILLS_ITS_JUDGE, is_sandboxed=False))
        others = [one.submit(request_for(RIGHT)) for _ in range(2)]
        found = deadly.result(WAIT)
        assert (found.status, found.stage) == ("cannot run", "none")
        assert "the system killed a process of kfuzz" in found.finding
        assert "twice" in found.finding
        assert [each.result(WAIT).status for each in others] == ["kept"] * 2
        assert one.counts.lost == 2


def test_a_full_queue_says_so_and_what_is_cancelled_leaves_it() -> None:
    with JudgingPool(1, most_waiting=2) as one:
        first = one.submit(request_for(SLOW))
        end = time.monotonic() + WAIT
        while not one.counts.judging and time.monotonic() < end:
            time.sleep(0.05)
        waiting = [one.submit(request_for(SLOW)) for _ in range(2)]
        with pytest.raises(QueueFullError, match="2 answers wait already"):
            one.submit(request_for(RIGHT))
        assert all(each.cancel() for each in waiting)
        last = one.submit(request_for(RIGHT))
        assert [first.result(WAIT).status, last.result(WAIT).status] == ["kept", "kept"]
        assert one.counts.judged == 2


def test_who_waits_for_a_pool_that_is_closed_hears_of_it() -> None:
    one = JudgingPool(1)
    futures = [one.submit(request_for(SLOW)) for _ in range(2)]
    one.close()
    for future in futures:
        with pytest.raises(JudgingError, match="ended before this answer was judged"):
            future.result(WAIT)
    with pytest.raises(JudgingError, match="ended before"):
        one.submit(request_for(RIGHT))


def test_a_process_that_keeps_too_much_memory_is_replaced() -> None:
    with JudgingPool(1, most_resident=1) as one:
        assert one.submit(request_for(RIGHT)).result(WAIT).status == "kept"
        used = judges_of(os.getpid())
        for _ in range(2):  # of the next process at the latest
            assert one.submit(request_for(RIGHT)).result(WAIT).status == "kept"
        assert len(used | judges_of(os.getpid())) > 1
        assert one.counts.lost == 0


def test_an_idle_process_that_is_killed_is_replaced() -> None:
    with JudgingPool(2) as one:
        assert one.submit(request_for(RIGHT)).result(WAIT).status == "kept"
        for pid in judges_of(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        assert one.submit(request_for(RIGHT)).result(WAIT).status == "kept"
        assert one.counts.lost == 2


def test_an_op_whose_file_has_changed_is_read_again(tmp_path: Path) -> None:
    op = tmp_path / "mine.py"
    with JudgingPool(1) as one:
        for times, status in ((2, "broken"), (1, "kept")):
            op.write_text(OP.format(times=times))
            found = one.submit(request_for(RIGHT, str(op))).result(WAIT)
            assert found.status == status, found
        assert one.counts.lost == 0


def test_a_pool_whose_processes_cannot_start_says_so() -> None:
    multiprocessing.set_executable("/bin/false")
    try:
        with JudgingPool(1) as one:
            with pytest.raises(JudgingError, match="no process that judges can be started: a worker process ended"):
                one.submit(request_for(RIGHT)).result(WAIT)
            with pytest.raises(DeviceError, match="no process that judges"), VerdictServer(0, one) as server:
                server.serve_forever()
    finally:
        multiprocessing.set_executable(sys.executable)


def test_folders_that_killed_compilers_have_left_are_removed_and_those_in_use_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    building = tmp_path / "building"
    for name in ("left", "used", "fresh"):
        (building / name).mkdir(parents=True)
        (building / name / "made.so").write_bytes(b"x")
    for name in ("left", "used"):
        os.utime(building / name, (time.time() - 2 * ABANDONED,) * 2)
    held = os.open(building / "used", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with JudgingPool(1) as one:
            assert one.submit(request_for(RIGHT)).result(WAIT).status == "kept"
        assert sorted(each.name for each in building.iterdir()) == ["fresh", "used"]
    finally:
        os.close(held)


def test_what_a_killed_helper_has_started_is_waited_for() -> None:
    with JudgingPool(1) as one:
        future = one.submit(request_for(SLOW))
        judge = 0
        while len(below := processes.descendants(judge) if judge else []) < 2:  # the helper, and the answer's process
            (judge,) = judges_of(os.getpid()) or (0,)
            assert not future.done()
        os.kill(below[0], signal.SIGKILL)
        assert future.result(WAIT).status == "kept"
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in processes.descendants(judge)]
        states = [one.rpartition(")")[2].split()[0] for one in stats]
        assert "Z" not in states
        assert one.counts.lost == 0

"""Processes of our own: whatever their state, they are gone when their caller has ended them."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from kfuzz.campaign.children import Child, OneByOne, end_all
from kfuzz.common.numpy_threads import NAMES
from kfuzz.devices import Device
from kfuzz.devices.cpu.device import CpuDevice


def at_work(_: Device, task: str) -> Iterator[int]:
    """An endless job; of some it is not known whether SIGTERM reaches them."""
    if task == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield os.getpid()
    while task != "idle":
        with contextlib.suppress(EOFError):  # a device's own process has ended: it gets another
            signal.pause()


@pytest.mark.slow
def test_processes_end_whether_they_are_idle_busy_or_deaf() -> None:
    hands = [Child[str, int](CpuDevice, OneByOne(at_work)) for _ in range(3)]
    for hand, task in zip(hands, ("idle", "busy", "deaf"), strict=True):
        hand.send(task)
    numbers = [hand.receive() for hand in hands]
    hands[0].is_busy = False
    end_all(hands)
    assert [hand.process.is_alive() for hand in hands] == [False, False, False]
    assert [hand.process.exitcode for hand in hands] == [0, 0, -signal.SIGKILL]
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def threads(_: Device, task: str) -> Iterator[tuple[int, str | None]]:
    """How many threads this process has with numpy loaded, and what it tells those whom it starts of that."""
    yield len(list(Path("/proc/self/task").iterdir())), os.environ.get(task)


def test_a_process_that_leaves_slowly_leaves_in_order_after_a_second_signal() -> None:
    """A second SIGTERM in the midst of it would be an error in whatever it interrupts."""
    text = """
        import os, signal
        from kfuzz.campaign.children import _leave
        signal.signal(signal.SIGTERM, _leave)
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            print("all is put away")"""
    left = subprocess.run([sys.executable, "-c", dedent(text)], capture_output=True, text=True, check=False)
    assert (left.returncode, left.stdout, left.stderr) == (0, "all is put away\n", "")


@pytest.mark.slow
def test_a_process_multiplies_in_one_thread_unless_its_user_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    said = min(3, os.cpu_count() or 1)
    for words, wanted in ((None, (1, None)), (str(said), (said, str(said)))):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
            if words is not None:
                monkeypatch.setenv(name, words)
        hand = Child[str, tuple[int, str | None]](CpuDevice, OneByOne(threads))
        hand.send(NAMES[0])
        assert hand.receive() == wanted
        assert os.environ.get(NAMES[0]) == words
        hand.close()


@pytest.mark.slow
@pytest.mark.parametrize(("said", "wanted"), [(None, 1), ("2", min(2, os.cpu_count() or 1))])
def test_the_program_itself_multiplies_in_one_thread_unless_its_user_says_how_many(
    said: str | None, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        if said is not None:
            monkeypatch.setenv(name, said)
    counted = "print(len(list(Path('/proc/self/task').iterdir())), os.environ.get('OMP_NUM_THREADS'))"
    script = "import atexit, os, sys\nfrom pathlib import Path\nfrom kfuzz.__main__ import main\n"
    script += f"sys.argv = ['kfuzz', '--version']\natexit.register(lambda: {counted})\nmain()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{wanted} {said}"

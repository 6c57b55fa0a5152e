"""Processes of our own: however they are, they are gone when their caller has ended them."""

import os
import signal
from collections.abc import Iterator

import pytest

from kfuzz.campaign.children import Child, end_all
from kfuzz.devices import Device
from kfuzz.devices.cpu.device import CpuDevice


def at_work(_: Device, task: str) -> Iterator[int]:
    """An endless job; of some it is not known whether SIGTERM reaches them."""
    if task == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield os.getpid()
    while task != "idle":
        signal.pause()


@pytest.mark.slow
def test_processes_end_whether_they_are_idle_busy_or_deaf() -> None:
    hands = [Child[str, int](CpuDevice, at_work) for _ in range(3)]
    for hand, task in zip(hands, ("idle", "busy", "deaf"), strict=True):
        hand.send(task)
    numbers = [hand.receive() for hand in hands]
    hands[0].is_busy = False
    end_all(hands)
    assert [hand.process.is_alive() for hand in hands] == [False, False, False]
    assert hands[2].process.exitcode == -signal.SIGKILL
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)

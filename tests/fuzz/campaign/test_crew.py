"""Processes that run the blocks of a campaign: results arrive in order, and no process is idle meanwhile."""

import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from kfuzz.campaign.blocks import BlockEnd, End, Orders
from kfuzz.campaign.children import Child, end_all
from kfuzz.campaign.crew import Crew, _Queue
from kfuzz.campaign.schedule import Block
from kfuzz.cpu.device import CpuDevice
from kfuzz.devices import Device

BLOCKS = [Block(0, first, first + 1) for first in range(40)]


def noted(_: Device, block: Block) -> Iterator[list[End]]:
    """A block that leaves a file; the first does not end before thirty others have."""
    while block.first == 0 and len(list(Path.cwd().iterdir())) < 30:
        time.sleep(0.01)  # files of another process, which tells nobody of them
    Path(str(block.first)).touch()
    yield [BlockEnd(block)]


@pytest.mark.slow
def test_a_long_block_leaves_no_process_idle_and_is_reported_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    orders = Orders((), seed=0)
    queue = _Queue(Crew(orders, CpuDevice, iter(BLOCKS), 2, "cpu"))
    queue.hands = [Child(CpuDevice, noted) for _ in range(2)]
    queue.idle = list(queue.hands)
    reported: list[End] = []
    try:
        while len(reported) < len(BLOCKS):
            queue.hand_out()
            for pipe in (ready := wait(list(queue.busy), 20)):
                queue.receive(pipe)
            assert ready, "one waits for the other, who has nothing to do"
            reported += queue.take_in_turn()
    finally:
        end_all(queue.hands)
    assert reported == [BlockEnd(block) for block in BLOCKS]

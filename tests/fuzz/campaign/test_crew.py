"""Processes that run the blocks of a campaign: results arrive in order, and no process is idle meanwhile."""

import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from kfuzz.campaign.blocks import BlockEnd, End, Orders
from kfuzz.campaign.children import Child, OneByOne, end_all
from kfuzz.campaign.crew import Crew, _Queue
from kfuzz.campaign.schedule import BLOCKS as BLOCKS_OF_A_ROUND
from kfuzz.campaign.schedule import Block
from kfuzz.devices import Device
from kfuzz.devices.cpu.device import CpuDevice

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
    queue.hands = [Child(CpuDevice, OneByOne(noted)) for _ in range(2)]
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


def test_what_other_processes_have_found_counts_when_time_is_up() -> None:
    """The first block took all of the time, and two others are there; one of them has not ended either."""
    first, second, third = BLOCKS[:3]
    for resumes, rest in ((False, [BlockEnd(second), BlockEnd(third, "claim")]), (True, [])):
        queue = _Queue(Crew(Orders((), seed=0), CpuDevice, iter(BLOCKS), 3, "cpu", resumes))
        queue.waiting = {0: [BlockEnd(first, "time")], 1: [BlockEnd(second)], 2: [BlockEnd(third, "claim")]}
        queue.waiting[3] = [BlockEnd(BLOCKS[3], "time")]
        assert next(queue.take_in_turn()) == BlockEnd(first, "time")
        assert list(queue.take_rest()) == rest


def paired(_: Device, blocks: Iterator[Block | None]) -> Iterator[list[End]]:
    """The ends of the first block and of the next, which is there before the first has ended."""
    first = next(blocks)
    second = None
    while first is not None and second is None:
        second = next(blocks)
    for block in (first, second):
        if block is not None:
            yield [BlockEnd(block)]


@pytest.mark.soak
@pytest.mark.slow
def test_a_process_gets_its_next_block_before_the_last_has_ended_if_it_is_of_another_kernel() -> None:
    full = BLOCKS_OF_A_ROUND[-1]
    blocks = [Block(0, 0, 2), Block(1, 0, full), Block(1, full, 2 * full), Block(0, 2, full)]
    queue = _Queue(Crew(Orders((), seed=0), CpuDevice, iter(blocks), 1, "cpu"))
    queue.hands = [Child(CpuDevice, paired)]
    queue.idle = list(queue.hands)
    reported: list[End] = []
    try:
        queue.hand_out()
        assert [len(sent) for _, sent in queue.busy.values()] == [2]
        while len(reported) < 2:
            for pipe in wait(list(queue.busy), 20):
                queue.receive(pipe)
            reported += queue.take_in_turn()
        queue.hand_out()
        assert [len(sent) for _, sent in queue.busy.values()] == [1]  # the last block is a short one
    finally:
        end_all(queue.hands)
    assert reported == [BlockEnd(block) for block in blocks[:2]]

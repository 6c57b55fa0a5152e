"""Who runs the trials of a campaign: this process, several others, or other machines; they end in the same order.

Each device has a lane of its own, with its own order: a lane that is slow keeps no other waiting. Knows blocks,
processes and errands; never how a trial is run, nor what a campaign makes of it.
"""

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import wait
from typing import Any

from kfuzz.campaign.blocks import BlockEnd, End, Ends, Orders, run_block, run_blocks
from kfuzz.campaign.children import Child, MakeDevice, end_all
from kfuzz.campaign.errand import Errand, Spread, errand
from kfuzz.campaign.schedule import BLOCKS, Block
from kfuzz.devices import Device

LaneEnds = Generator[tuple[int, End], None, None]
"""The end of a trial or of a block, and the number of its lane."""
PARCEL_SECONDS = 0.1
WINDOW = 64
"""Blocks for each process, between the one whose turn it is and the last that was given out: a large case, which takes
as long as a thousand others, keeps nobody idle."""
MOST_IN_A_PARCEL = 4
"""Of so many blocks is an errand: a trial then costs its caller half as much processor time as in errands of one."""
Parcel = tuple[Block, ...]
_Hand = Child[Block, list[End]]


@dataclass(frozen=True)
class Crew:
    """What the trials of one lane need: orders, a device, the blocks to come, and how many processes.

    `make_device` is sent to the processes, so it has to be picklable. `device` is its name, where it matters.
    """

    orders: Orders
    make_device: MakeDevice
    blocks: Iterator[Block | None]
    jobs: int
    device: str


def run_alone(crews: Sequence[Crew]) -> LaneEnds:
    """All trials, run by this process; of several crews a trial of each in turn."""
    with ExitStack() as stack:
        every = [stack.enter_context(closing(_run_crew(crew))) for crew in crews]
        left = dict(enumerate(every))
        while left:
            for number, ends in list(left.items()):
                end = next(ends, None)
                if end is None:
                    del left[number]
                else:
                    yield number, end


def _run_crew(crew: Crew) -> Ends:
    with closing(crew.make_device()) as device:
        yield from run_blocks(crew.orders, device, crew.blocks, {})


def run_in_processes(crews: Sequence[Crew]) -> LaneEnds:
    """All trials, run by processes of each crew's own; in the order of its blocks, whoever is done first."""
    queues: list[_Queue] = []
    try:
        for crew in crews:
            queues.append(_Queue(crew))
            queues[-1].hire()
        while True:
            for queue in queues:
                queue.hand_out()
            busy = {pipe: queue for queue in queues for pipe in queue.busy}
            if not busy:
                return
            for pipe in wait(list(busy)):
                busy[pipe].receive(pipe)  # wait gives back what it was given
            for number, queue in enumerate(queues):
                for end in queue.take_in_turn():
                    yield number, end
    finally:
        end_all([hand for queue in queues for hand in queue.hands])


def run_elsewhere(crews: Sequence[Crew], spread: Spread) -> LaneEnds:
    """All trials, run on other machines; of each crew in the order of its blocks, a few blocks at a time."""
    given: list[deque[Parcel]] = [deque() for _ in crews]

    def errands(crew: Crew, given: deque[Parcel]) -> Iterator[Errand | None]:
        for blocks in parcels_of(crew.blocks):
            if blocks is None:
                yield None
                continue
            given.append(blocks)
            kernels = tuple(crew.orders.kernels[block.kernel] for block in blocks)
            theirs = replace(crew.orders, kernels=kernels, deadline=None)  # their clock is another
            task = tuple(replace(block, kernel=number) for number, block in enumerate(blocks))
            more = f" and {len(blocks) - 1} more" if len(blocks) > 1 else ""
            name = f"{kernels[0].name} {blocks[0].first}-{blocks[0].last - 1}{more}"
            yield errand(name, kernels, crew.make_device, partial(run_parcel, theirs), task, crew.device)

    streams = [errands(crew, mine) for crew, mine in zip(crews, given, strict=True)]
    with closing(spread(streams, crews[0].orders.deadline)) as found:
        for number, ends in found:
            blocks = given[number].popleft()
            for end in ends:
                if isinstance(end, BlockEnd):
                    yield number, replace(end, block=blocks[end.block.kernel])
                else:
                    yield number, replace(end, kernel=blocks[end.kernel].kernel)
    for number, left in enumerate(given):
        if left:
            yield number, BlockEnd(left[0][0], "time")


def parcels_of(blocks: Iterator[Block | None]) -> Iterator[Parcel | None]:
    """Blocks of as many trials as there are in any, a few together, each of another kernel; smaller ones one by one,
    since those come first: every machine is to have something to do, and most have yet to compile.
    """
    parcel: list[Block] = []
    for block in blocks:
        is_alone = block is None or block.last - block.first < BLOCKS[-1]
        is_full = len(parcel) == MOST_IN_A_PARCEL or (block and block.kernel in {one.kernel for one in parcel})
        if parcel and (is_alone or is_full):
            yield tuple(parcel)
            parcel = []
        if block is None:
            yield None
        elif is_alone:
            yield (block,)
        else:
            parcel.append(block)
    if parcel:
        yield tuple(parcel)


def run_parcel(orders: Orders, device: Device, blocks: Parcel) -> Ends:
    """Blocks by somebody who knows of no others: what each finds is the same, whoever is asked, and when."""
    for block in blocks:
        yield from run_block(orders, device, block, {})


class _Queue:
    """The blocks of one crew: given out in order; what comes back early waits for its turn."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.hands: list[_Hand] = []
        self.idle: list[_Hand] = []
        self.busy: dict[Any, tuple[_Hand, int]] = {}
        self.waiting: dict[int, list[End]] = {}
        self.given, self.turn = 0, 0

    def hire(self) -> None:
        """Start the processes."""
        for _ in range(self.crew.jobs):
            self.hands.append(Child(self.crew.make_device, _Blocks(self.crew.orders)))
        self.idle = list(self.hands)

    def hand_out(self) -> None:
        """Give whoever is idle a block, many ahead: one may be at a large case."""
        most = WINDOW * len(self.hands)
        while self.idle and self.given - self.turn < most and (block := next(self.crew.blocks, None)) is not None:
            hand = self.idle.pop()
            hand.send(block)
            self.busy[hand.pipe] = hand, self.given
            self.waiting[self.given] = []
            self.given += 1

    def receive(self, pipe: object) -> None:
        """Take what has come from one of the processes."""
        hand, at = self.busy[pipe]
        items = hand.receive()
        self.waiting[at] += items
        if isinstance(items[-1], BlockEnd):
            hand.is_busy = False
            del self.busy[pipe]
            self.idle.append(hand)

    def take_in_turn(self) -> Iterator[End]:
        """What has come of the block whose turn it is, and of those after it."""
        while self.turn in self.waiting:
            items, self.waiting[self.turn] = self.waiting[self.turn], []
            yield from items
            if not items or not isinstance(items[-1], BlockEnd):
                break
            del self.waiting[self.turn]
            self.turn += 1


@dataclass(frozen=True)
class _Blocks:
    """What a process does with a block; it remembers how small each bucket's case is so far."""

    orders: Orders
    known: dict[str, int] = field(default_factory=dict)

    def __call__(self, device: Device, block: Block) -> Iterator[list[End]]:
        """The ends in a few parcels: each wakes up whoever waits for it."""
        parcel: list[End] = []
        sent = time.monotonic()
        for end in run_block(self.orders, device, block, self.known):
            parcel.append(end)
            if isinstance(end, BlockEnd) or time.monotonic() > sent + PARCEL_SECONDS:
                yield parcel
                parcel, sent = [], time.monotonic()

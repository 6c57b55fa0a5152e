"""Runs the trials of a campaign in this process, in several others, or on other machines, always in the same order.

Each device has a lane with its own order: a slow lane does not delay the others. Knows blocks, processes and errands;
never how a trial is run, nor what a campaign makes of it.
Long, since one order of trials holds for one process, several and other machines.
"""

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import wait
from typing import Any

from kfuzz.campaign.blocks import BlockEnd, End, Ends, Experience, Orders, is_out_of_time, run_block, run_blocks
from kfuzz.campaign.children import Child, KilledError, MakeDevice, end_all
from kfuzz.campaign.errand import Errand, Spread, errand
from kfuzz.campaign.schedule import BLOCKS, Block
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device, OfParts, Preparing, Starting

LaneEnds = Generator[tuple[int, End], None, None]
"""The end of a trial or of a block, and the number of its lane."""
PARCEL_SECONDS = 0.1
WINDOW = 64
"""Blocks for each process between the one whose turn it is and the last one handed out: a large case, which takes as
long as a thousand others, leaves no process idle."""
MOST_KILLED = 8
"""Processes for each job that a campaign replaces after the system has killed one: more is the machine's fault."""
MOST_IN_A_PARCEL = 4
"""Blocks of one errand: a trial then costs its caller half as much processor time as with one block per errand."""
Parcel = tuple[Block, ...]
_Hand = Child[Block, list[End]]


@dataclass(frozen=True)
class Crew:
    """What the trials of one lane need: orders, a device, the next blocks, and the number of processes.

    `make_device` is sent to the processes, so it must be picklable. `device` is its name, if that matters. `resumes`:
    another campaign goes on where this one stops, so that no trial may be left out.
    """

    orders: Orders
    make_device: MakeDevice
    blocks: Iterator[Block | None]
    jobs: int
    device: str
    resumes: bool = True


def run_alone(crews: Sequence[Crew]) -> LaneEnds:
    """Run all trials in this process, one trial of each crew in turn."""
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
        yield from run_blocks(crew.orders, device, crew.blocks, Experience())


def run_in_processes(crews: Sequence[Crew]) -> LaneEnds:
    """Run all trials in processes of each crew's own; yield their ends in the order of its blocks."""
    queues: list[_Queue] = []
    try:
        for crew in crews:
            queues.append(_Queue(crew))
            queues[-1].hire()
        while True:
            for queue in queues:
                queue.hand_out()
            if not any(queue.is_at_work for queue in queues):
                return
            busy = {pipe: queue for queue in queues for pipe in queue.busy}
            for pipe in wait(list(busy)):
                busy[pipe].receive(pipe)  # wait returns objects of its argument; a process may have ended
            for number, queue in enumerate(queues):
                for end in queue.take_in_turn():
                    if is_out_of_time(end):  # nothing else is taken after it
                        yield from ((other, one) for other, each in enumerate(queues) for one in each.take_rest())
                    yield number, end
    finally:
        end_all([hand for queue in queues for hand in queue.hands])
        for queue in queues:
            queue.close()


def run_elsewhere(crews: Sequence[Crew], spread: Spread) -> LaneEnds:
    """Run all trials on other machines, a few blocks at a time; yield their ends in the order of each crew's blocks."""
    sent: list[deque[Parcel]] = [deque() for _ in crews]

    def errands(crew: Crew, parcels: deque[Parcel]) -> Iterator[Errand | None]:
        for blocks in parcels_of(crew.blocks):
            if blocks is None:
                yield None
                continue
            parcels.append(blocks)
            kernels = tuple(crew.orders.kernels[block.kernel] for block in blocks)
            theirs = replace(crew.orders, kernels=kernels, deadline=None)  # their clock differs from ours
            task = tuple(replace(block, kernel=number) for number, block in enumerate(blocks))
            more = f" and {len(blocks) - 1} more" if len(blocks) > 1 else ""
            name = f"{kernels[0].name} {blocks[0].first}-{blocks[0].last - 1}{more}"
            yield errand(name, kernels, crew.make_device, partial(run_parcel, theirs), task, crew.device)

    streams = [errands(crew, parcels) for crew, parcels in zip(crews, sent, strict=True)]
    with closing(spread(streams, crews[0].orders.deadline)) as results:
        for number, ends in results:
            blocks = sent[number].popleft()
            for end in ends:
                if isinstance(end, BlockEnd):
                    yield number, replace(end, block=blocks[end.block.kernel])
                else:
                    yield number, replace(end, kernel=blocks[end.kernel].kernel)
    for number, left in enumerate(sent):
        if left:
            yield number, BlockEnd(left[0][0], "time")


def parcels_of(blocks: Iterator[Block | None]) -> Iterator[Parcel | None]:
    """Group blocks of full length, a few together, each of another kernel. Shorter blocks stay alone: they come first,
    when every machine needs something to do and most have not compiled yet.
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
    """Run blocks without knowledge of any others: each has the same results on any machine and at any time."""
    for block in blocks:
        yield from run_block(orders, device, block, Experience())


class _Queue:
    """The blocks of one crew: it hands them out in order, and early results wait for their turn.

    A process gets its first block when its device has started: sixteen contexts on a GPU take four seconds, and the
    first ones have run the first round by then. Until it says so it is busy without a block.

    A process with a block of full length gets the next one too, if it is of another kernel: otherwise its device is
    idle from the last trials of a block until this process has sent another.
    """

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.hands: list[_Hand] = []
        self.idle: list[_Hand] = []
        self.busy: dict[Any, tuple[_Hand, deque[tuple[int, Block]]]] = {}
        self.waiting: dict[int, list[End]] = {}
        self.next_block, self.turn = 0, 0
        self.again: deque[tuple[int, Block]] = deque()
        """The blocks that lay behind the one during which a process was killed."""
        self.killed = 0
        self._block: Block | None = None
        self._device: Device | None = None

    def hire(self) -> None:
        """Start the processes. If all kernels load libraries, that of the first is imported meanwhile, once for all."""
        if all(kernel.front.language.runner.loads_libraries for kernel in self.crew.orders.kernels):
            self._device, first = self.crew.make_device(), self.crew.orders.kernels[0]
            if isinstance(part := part_for(self._device, first), Preparing):
                part.import_early(first.entries)
        for _ in range(self.crew.jobs):
            self.hands.append(Child(self.crew.make_device, _Blocks(self.crew.orders)))
        for hand in self.hands:
            hand.begin()
            self.busy[hand.pipe] = hand, deque()

    @property
    def is_at_work(self) -> bool:
        """Whether a block runs, or waits for a process that starts."""
        return self._block is not None or bool(self.again) or any(blocks for _, blocks in self.busy.values())

    def close(self) -> None:
        """End what was started beside the processes."""
        if self._device is not None:
            self._device.close()

    def hand_out(self) -> None:
        """Give every idle process a block, far ahead of the turn: one process may be at a large case."""
        while self.again and self.idle:
            self._give(self.idle.pop(), *self.again.popleft())
        most = WINDOW * len(self.hands)
        while self.next_block - self.turn < most:
            self._block = self._block or next(self.crew.blocks, None)
            if self._block is None or (hand := self._hand_for(self._block)) is None:
                return
            self.waiting[self.next_block] = []
            self._give(hand, self.next_block, self._block)
            self.next_block, self._block = self.next_block + 1, None

    def _give(self, hand: _Hand, number: int, block: Block) -> None:
        """Send a block to a process; if that was killed meanwhile, `receive` hears of it."""
        is_idle = hand.pipe not in self.busy
        self.busy.setdefault(hand.pipe, (hand, deque()))[1].append((number, block))
        try:
            hand.send(block)
        except KilledError as error:
            if is_idle:  # it was at no kernel
                self.again.append(self.busy[hand.pipe][1].popleft())
                self._replace(hand.pipe, error)

    def _hand_for(self, block: Block) -> _Hand | None:
        """A process that may begin the block or, if all are busy, the one that soonest needs another."""
        if self.idle:
            return self.idle.pop()
        if block.last - block.first < BLOCKS[-1]:
            return None
        single = ((hand, blocks[0][1].kernel) for hand, blocks in self.busy.values() if len(blocks) == 1)
        return next((hand for hand, kernel in single if kernel != block.kernel), None)

    def receive(self, pipe: object) -> None:
        """Take the items that one of the processes has sent: none of them when it is ready."""
        hand, blocks = self.busy[pipe]
        try:
            items = hand.receive()
        except KilledError as error:
            self._replace(pipe, error)
            return
        if items:
            self.waiting[blocks[0][0]] += items
            if isinstance(items[-1], BlockEnd):
                blocks.popleft()
        if not blocks:
            hand.is_busy = False
            del self.busy[pipe]
            self.idle.append(hand)

    def _replace(self, pipe: object, error: KilledError) -> None:
        """Start another process for one that was killed: the kernel whose block it ran is not tried further."""
        hand, blocks = self.busy.pop(pipe)
        self.killed += 1
        if self.killed > MOST_KILLED * self.crew.jobs:
            raise error
        if blocks:
            number, block = blocks.popleft()
            kernel = self.crew.orders.kernels[block.kernel]
            message = f"{kernel.path}: {error}, while it was tried; this kernel is not tried further"
            self.waiting[number].append(BlockEnd(block, "claim", message))
            self.again.extend(blocks)
        self.hands.remove(hand)
        hand.close()
        self.hands.append(Child(self.crew.make_device, _Blocks(self.crew.orders)))
        self.hands[-1].begin()
        self.busy[self.hands[-1].pipe] = self.hands[-1], deque()

    def take_in_turn(self) -> Iterator[End]:
        """Yield the results of the block whose turn it is, and of those after it."""
        while self.turn in self.waiting:
            items, self.waiting[self.turn] = self.waiting[self.turn], []
            yield from items
            if not items or not isinstance(items[-1], BlockEnd):
                break
            del self.waiting[self.turn]
            self.turn += 1

    def take_rest(self) -> Iterator[End]:
        """Yield the results of all later blocks that have come: the one whose turn it was may have taken long, and a
        finding of the others counts. Only a campaign that resumes runs their trials again.
        """
        if not self.crew.resumes:
            for block in sorted(self.waiting):
                items, self.waiting[block] = self.waiting[block], []
                yield from (one for one in items if not is_out_of_time(one))


@dataclass(frozen=True)
class _Blocks:
    """What a process does with its blocks; it remembers what it has seen."""

    orders: Orders
    known: Experience = field(default_factory=Experience)

    def __call__(self, device: Device, blocks: Iterator[Block | None]) -> Iterator[list[End]]:
        """Start the device, and yield an empty parcel. Then yield the ends in a few parcels, since each parcel wakes up
        the parent; each is of one block.
        """
        if not self.known.is_ready:
            self._start(device)
            self.known.is_ready = True
            yield []
        parcel: list[End] = []
        sent = time.monotonic()
        for end in run_blocks(self.orders, device, blocks, self.known):
            parcel.append(end)
            if isinstance(end, BlockEnd) or time.monotonic() > sent + PARCEL_SECONDS:
                yield parcel
                parcel, sent = [], time.monotonic()

    def _start(self, device: Device) -> None:
        """Start what runs the kernels, if that is known: a process for the first file if all of them load libraries."""
        kernels = self.orders.kernels
        first = next((one for one in kernels if not one.front.language.runner.loads_libraries), kernels[0])
        part = part_for(device, first)
        if isinstance(part, Preparing):
            part.prepare(first.entries)
        elif isinstance(part, Starting):
            part.start()


def part_for(device: Device, kernel: Kernel) -> Device:
    """What runs the jobs of a kernel, if the device has a part for each kind of job."""
    return device.part(kernel.front.language.runner) if isinstance(device, OfParts) else device

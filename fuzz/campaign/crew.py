"""Who runs the trials of a campaign: this process, or several others; either way the trials end in the same order.

Knows schedules, trials and processes; never what a campaign makes of a trial.
"""

import re
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from multiprocessing.connection import wait
from typing import Literal

from kfuzz.campaign.children import Child, MakeDevice
from kfuzz.campaign.errand import Errand, Spread, errand
from kfuzz.campaign.schedule import WHOLE, Block, Shard, attempt_of, is_large, probe_of
from kfuzz.cases.case import Case
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device, Probe, UnsupportedError
from kfuzz.search.plan import BUDGET
from kfuzz.trials.defect import Defect
from kfuzz.trials.locating import located
from kfuzz.trials.trial import Trial, run_trial

LEAST_TIMEOUT, SURE_TIMEOUT = 0.5, 2.0
"""Seconds. A trial takes milliseconds, so what has not ended by the second is a hang, even if time is up soon."""
LARGE_SECONDS = 10.0
"""A campaign with less time left does not begin on a large case."""


@dataclass(frozen=True)
class Orders:
    """What everybody who runs trials of a campaign has to know. `deadline` is a time of `time.monotonic`."""

    kernels: tuple[Kernel, ...]
    seed: int
    runs: int = 3
    timeout: float = 3.0
    budget: int = BUDGET
    deadline: float | None = None
    shard: Shard = WHOLE


@dataclass(frozen=True)
class Shown:
    """A defect, and the case that showed it where that is the smallest of its bucket so far."""

    defect: Defect
    case: Case | None


@dataclass(frozen=True)
class TrialEnd:
    """What came of one trial."""

    kernel: int
    index: int
    device: str
    probe: Probe
    axes: Mapping[str, int]
    """The kernel's own, where anything was judged."""
    rows: int
    elements: int
    ratio: float
    seconds: Mapping[str, float]
    reasons: tuple[str, ...]
    silences: Mapping[str, tuple[str, ...]]
    seen: tuple[Shown, ...]


@dataclass(frozen=True)
class BlockEnd:
    """The end of a block: all of it was run, or `why` not: out of time, or the kernel cannot go on."""

    block: Block
    why: Literal["", "time", "hang", "claim", "unsupported"] = ""
    message: str = ""


End = TrialEnd | BlockEnd
Ends = Generator[End, None, None]
_Hand = Child[Block, End]


def run_block(orders: Orders, device: Device, block: Block, known: dict[str, int]) -> Ends:
    """The trials of a block, then its own end. `known`, kept up to date: elements of each bucket's smallest case."""
    kernel = orders.kernels[block.kernel]
    for index in (index for index in range(block.first, block.last) if orders.shard.has(kernel, index)):
        left = inf if orders.deadline is None else orders.deadline - time.monotonic()
        if left <= 0:
            yield BlockEnd(block, "time")
            return
        if is_large(index) and left < LARGE_SECONDS:
            continue
        # A device that suspects a hang runs the job again to be sure: the last hang has to fit in what is left.
        timeout = min(orders.timeout, max(LEAST_TIMEOUT, left / 4))
        try:
            end, hangs = _trial(orders, device, kernel, block.kernel, index, timeout, known)
        except UnsupportedError as error:
            yield BlockEnd(block, "unsupported", str(error))
            return
        except ClaimError as error:
            yield BlockEnd(block, "claim", str(error))
            return
        if hangs and timeout < min(orders.timeout, SURE_TIMEOUT):  # it may only have been short of time
            yield BlockEnd(block, "time")
            return
        yield end
        if hangs:
            yield BlockEnd(block, "hang", f"trial {index} did not end; this kernel is not tried further")
            return
    yield BlockEnd(block)


def _trial(
    orders: Orders, device: Device, kernel: Kernel, place: int, index: int, timeout: float, known: dict[str, int]
) -> tuple[TrialEnd, bool]:
    began = time.perf_counter()
    attempt = attempt_of(kernel, orders.seed, index, orders.budget)
    probe = probe_of(kernel, orders.seed, index, orders.runs, timeout)
    planned = time.perf_counter() - began
    trial = run_trial(kernel, attempt.case, attempt.tune, device, probe)
    end = TrialEnd(
        kernel=place,
        index=index,
        device=trial.device,
        probe=probe,
        axes=trial.axes if trial.rows else {},
        rows=trial.rows,
        elements=trial.elements,
        ratio=trial.ratio,
        seconds={"generation": planned, **trial.seconds},
        reasons=tuple(map(counted, trial.reasons if trial.rows or _is_refused(trial) else trial.notes)),
        silences=trial.silences,
        seen=tuple(_seen(kernel, trial.case, defect, known, device, probe) for defect in trial.defects),
    )
    return end, any(defect.kind == "hang" for defect in trial.defects)


def _is_refused(trial: Trial) -> bool:
    return any(one.startswith("refused: ") for one in trial.reasons)


def counted(reason: str) -> str:
    """A reason without its numbers, so that one is told once; the line that refuses stays."""
    line = re.match(r"refused: (?:line \d+: )?", reason)
    kept = line[0] if line else ""
    return kept + re.sub(r"\d+ ", "", reason[len(kept) :])


def _seen(kernel: Kernel, case: Case, defect: Defect, known: dict[str, int], device: Device, probe: Probe) -> Shown:
    if case.elements >= known.get(defect.bucket, case.elements + 1):
        return Shown(defect, None)
    known[defect.bucket] = case.elements
    return Shown(located(defect, kernel, case, device, probe), case)


def alone(orders: Orders, make_device: MakeDevice, blocks: Iterable[Block]) -> Ends:
    """All trials, run by this process."""
    known: dict[str, int] = {}
    device = make_device()
    try:
        for block in blocks:
            yield from run_block(orders, device, block, known)
    finally:
        device.close()


def together(orders: Orders, make_device: MakeDevice, blocks: Iterable[Block], jobs: int) -> Ends:
    """All trials, run by several processes; in the order of the blocks, whoever is done first.

    `make_device` is sent to the processes, so it has to be picklable.
    """
    crew: list[_Hand] = [Child(make_device, _Blocks(orders)) for _ in range(jobs)]
    try:
        yield from _in_order(crew, iter(blocks))
    finally:
        for hand in crew:
            hand.close()


def elsewhere(orders: Orders, make_device: MakeDevice, blocks: Iterable[Block], spread: Spread) -> Ends:
    """All trials, run on other machines; in the order of the blocks, a block at a time."""
    given: deque[Block] = deque()

    def errands() -> Iterator[Errand]:
        for block in blocks:
            given.append(block)
            kernel = orders.kernels[block.kernel]
            theirs = replace(orders, kernels=(kernel,), deadline=None)  # their clock is another
            name = f"{kernel.name} {block.first}-{block.last - 1}"
            yield errand(name, kernel, make_device, partial(run_one, theirs), replace(block, kernel=0))

    with closing(spread(errands(), orders.deadline)) as found:
        for ends in found:
            block = given.popleft()
            for end in ends:
                yield replace(end, block=block) if isinstance(end, BlockEnd) else replace(end, kernel=block.kernel)
    if given:
        yield BlockEnd(given[0], "time")


def run_one(orders: Orders, device: Device, block: Block) -> Ends:
    """`run_block` by somebody who knows of no other block: what it finds is the same, whoever is asked, and when."""
    return run_block(orders, device, block, {})


def _in_order(crew: Sequence[_Hand], blocks: Iterator[Block]) -> Ends:
    """Blocks are given out in order; what comes back early waits for its turn."""
    waiting: dict[int, list[End]] = {}
    given, turn = 0, 0
    idle, busy = list(crew), {}
    while True:
        # A few blocks ahead keep everybody busy; more would only be thrown away at the end of time.
        while idle and given - turn < 2 * len(crew) and (block := next(blocks, None)) is not None:
            hand = idle.pop()
            hand.send(block)
            busy[hand.pipe] = hand, given
            waiting[given] = []
            given += 1
        if turn == given:
            return
        for pipe in wait(list(busy)):
            hand, at = busy[pipe]  # type: ignore[index]  # wait gives back what it was given
            item = hand.receive()
            waiting[at].append(item)
            if isinstance(item, BlockEnd):
                hand.is_busy = False
                del busy[hand.pipe]
                idle.append(hand)
        while turn in waiting:
            items, waiting[turn] = waiting[turn], []
            yield from items
            if not items or not isinstance(items[-1], BlockEnd):
                break
            del waiting[turn]
            turn += 1


@dataclass(frozen=True)
class _Blocks:
    """What a process does with a block; it remembers how small each bucket's case is so far."""

    orders: Orders
    known: dict[str, int] = field(default_factory=dict)

    def __call__(self, device: Device, block: Block) -> Ends:
        return run_block(self.orders, device, block, self.known)

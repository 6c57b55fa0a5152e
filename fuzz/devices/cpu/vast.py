"""A job of vast arrays: a few of its blocks run, each alone.

Arrays are address space, of which the runtime fills the pieces that a block touches (cuda_on_cpu/runtime/vast.h). An
access far outside is a fault. The rows that a block writes whole are its answer, which the oracle judges. Two blocks
that write the same elements show an index that has wrapped around into its own array.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Circumstances, Finding, Job, Outcome, Run, Untried
from kfuzz.devices.cpu.abi import Status
from kfuzz.devices.cpu.experiments import CpuRun
from kfuzz.devices.memory.layout import POISONS
from kfuzz.devices.memory.vast import INT_COUNTS, unit_blocks

MOST_SECONDS = 2.0
"""For all blocks of a job together, of processor time."""
FARTHEST = 1 << 16
"""An index that wraps around moves by a multiple of this many bytes."""
ElementNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class WrittenElements:
    """The elements of an output that a block has written: their places, in order, and what they hold."""

    places: ElementNumbers
    values: NDArray[np.generic]


class BlockRunner(Protocol):
    """A job in memory of which single blocks can be run."""

    def run_block(self, block: int, seconds: float) -> CpuRun: ...

    def addresses_of_faults(self) -> Sequence[int]:
        """The address of each sight of the last run."""

    def addresses(self) -> Mapping[str, int]:
        """Where each array lies."""

    def read_written(self) -> dict[str, WrittenElements]:
        """What the last run wrote to each output."""


def examine_vast_blocks(job: Job, runner: BlockRunner, seconds: float) -> Outcome:
    """Run the chosen blocks, one after the other, and report their faults, their answers and what two of them share."""
    assert job.vast is not None
    left = min(seconds, MOST_SECONDS)
    findings: dict[tuple[str, int | None, str | None], Finding] = {}
    written: dict[int, dict[str, WrittenElements]] = {}
    untried = None
    for block in job.vast.blocks:
        done = runner.run_block(block, left)
        left -= done.seconds
        for found in _find_faults(job, runner, done):
            findings.setdefault((found.kind, found.line, found.array), found)
        if done.status == Status.finished:
            written[block] = runner.read_written()
        elif done.status == Status.too_large:
            untried = Untried.TOUCHES_TOO_MUCH
        if left <= 0 or done.status == Status.timed_out:
            untried = Untried.TOO_SLOW
            break
    if findings:
        return Outcome(findings=tuple(findings.values()))
    wrapped = _find_wrapped(job, runner, written, left) if left > 0 else None
    if wrapped:
        return Outcome(findings=(wrapped,))
    run = _answer(job, written)
    return Outcome((run,) if run else (), untried=untried)


def _find_faults(job: Job, runner: BlockRunner, done: CpuRun) -> list[Finding]:
    seen = zip(done.sights, runner.addresses_of_faults(), strict=False)
    return [
        _locate(job, runner.addresses(), one.finding, address)
        for one, address in seen
        if one.finding.kind == "illegal-address"
    ]


def _locate(job: Job, places: Mapping[str, int], finding: Finding, address: int) -> Finding:
    """The finding with its array, if the address results from an index that does not fit into 32 bits."""
    for buffer in job.buffers:
        index, size = (address - places[buffer.name]) // buffer.element.bytes, math.prod(buffer.shape)
        meant = index + (1 << 32)
        if size > INT_COUNTS and index < 0 <= meant < size:
            thread, _, _ = finding.message.partition(" accesses")
            words = f"{thread} accesses {buffer.name}[{index}], which is {meant} in an int of 32 bits"
            return replace(finding, message=words, array=buffer.name, index=index)
    return finding


def _find_wrapped(
    job: Job, runner: BlockRunner, written: Mapping[int, Mapping[str, WrittenElements]], seconds: float
) -> Finding | None:
    """Blocks that write what an earlier block writes, although the others lie in order along each axis of the grid.

    Either the two write different values, which is a race. Or each of at least two such blocks has a partner that
    writes the same: a kernel that computes each element once has none, and one that computes some elements
    twice does not do so at a distance of many blocks.
    """
    for buffer in filter(_starts_poisoned, job.buffers):
        size = math.prod(buffer.shape)
        held = {block: one[buffer.name] for block, one in written.items() if len(one[buffer.name].places)}
        first = {block: int(one.places[0]) for block, one in held.items()}
        if (order := _order_of(job.steps[0].grid, first)) is None:
            continue
        due = {block: order.first_place(block) for block in first}
        moved = {block: due[block] - at for block, at in first.items() if due[block] < size}
        far = {block: by for block, by in moved.items() if by and by * buffer.element.bytes % FARTHEST == 0}
        if len(far) < 2 or sum(by == 0 for by in moved.values()) < 3:
            continue
        clashes = [
            _compare_with_partner(runner, held[b], order.partners(b, by), buffer, seconds) for b, by in far.items()
        ]
        if "different" in clashes or set(clashes) == {"equal"}:
            block = max(far)
            place = f"{buffer.name}[{first[block]}]"
            message = (
                f"block {block} writes {place} and what follows, as an earlier block does; by the order of the other "
            )
            message += f"blocks it begins at [{first[block] + far[block]}], {far[block]} elements later"
            return Finding("race", message, array=buffer.name, index=first[block] + far[block])
    return None


@dataclass(frozen=True)
class _BlockOrder:
    """Where the blocks of a grid write: from `start` on, `apart` elements further for each step along an axis."""

    grid: tuple[int, ...]
    start: int
    apart: tuple[int, ...]

    def first_place(self, block: int) -> int:
        """The first element that a block writes."""
        return self.start + sum(step * at for step, at in zip(self.apart, self._place(block), strict=True))

    def partners(self, block: int, by: int) -> set[int]:
        """The blocks that write what lies `by` elements before the place of this one, if one coordinate is wrong."""
        place, found = self._place(block), set[int]()
        for axis, step in enumerate(self.apart):
            for steps in {by // step, -(-by // step)} if step else ():
                if 0 <= place[axis] - steps < self.grid[axis]:
                    found.add(block - steps * math.prod(self.grid[:axis]))
        return found - {block}

    def _place(self, block: int) -> tuple[int, ...]:
        return tuple(block // math.prod(self.grid[:axis]) % size for axis, size in enumerate(self.grid))


def _order_of(grid: Sequence[int], first: Mapping[int, int]) -> _BlockOrder | None:
    """The order of blocks that the first and the second one along each axis show; None if they show none."""
    apart = [0] * len(grid)
    for axis, number in unit_blocks(grid):
        if 0 not in first or number not in first:
            return None
        apart[axis] = first[number] - first[0]
    return _BlockOrder(tuple(grid), first[0], tuple(apart)) if max(apart) > 0 else None


def _compare_with_partner(
    runner: BlockRunner, held: WrittenElements, partners: Iterable[int], buffer: Buffer, seconds: float
) -> Literal["", "equal", "different"]:
    """How the elements of a block agree with those that one of these blocks writes, which may write more."""
    for partner in sorted(partners):
        if runner.run_block(partner, seconds).status != Status.finished:
            continue
        other = runner.read_written()[buffer.name]
        _, mine, its = np.intersect1d(held.places, other.places, return_indices=True)
        if held.values[mine].tobytes() != other.values[its].tobytes():
            return "different"
        if len(mine) == len(held.places):
            return "equal"
    return ""


def _answer(job: Job, written: Mapping[int, Mapping[str, WrittenElements]]) -> Run | None:
    """The rows that single blocks have written whole, in every output; None if there are none to judge."""
    assert job.vast is not None
    outputs = [buffer for buffer in job.buffers if buffer.is_output]
    most = job.vast.most_rows
    if not most or any(one.rows is None or not _starts_poisoned(one) for one in outputs):
        return None
    rows: dict[int, int] = {}
    for block, arrays in written.items():
        whole = [_whole_rows(buffer, arrays[buffer.name]) for buffer in outputs]
        common = sorted(set.intersection(*map(set, whole)))
        rows |= dict.fromkeys([*common[:1], *common[-1:]], block)
    if not rows:
        return None
    chosen = sorted(rows)[-most:]
    answers = {one.name: _pick_rows(one, chosen, [written[rows[row]][one.name] for row in chosen]) for one in outputs}
    return Run(Circumstances("each block alone", poison=POISONS[0]), answers, rows=tuple(chosen))


def _starts_poisoned(buffer: Buffer) -> bool:
    """Whether it is an output that holds nothing but poison at first: what differs was written."""
    is_placed = buffer.is_output and not buffer.is_returned
    return is_placed and buffer.content is None and buffer.fill is None


def _rows_of(buffer: Buffer, places: ElementNumbers) -> ElementNumbers:
    axis = buffer.rows or 0
    return places // math.prod(buffer.shape[axis + 1 :]) % buffer.shape[axis]


def _whole_rows(buffer: Buffer, written: WrittenElements) -> list[int]:
    """The rows of which every element was written."""
    length = _row_length(buffer)
    rows, counts = np.unique(_rows_of(buffer, written.places[_is_used(buffer, written.places)]), return_counts=True)
    return [int(row) for row in rows[counts == length]]


def _row_length(buffer: Buffer) -> int:
    """How many words of a row hold elements: those of a stride beyond them do not."""
    axis = buffer.rows or 0
    length = math.prod(buffer.shape) // max(1, buffer.shape[axis])
    return length if buffer.used is None else length // buffer.shape[-1] * buffer.used


def _is_used(buffer: Buffer, places: ElementNumbers) -> NDArray[np.bool_]:
    return np.asarray(places % buffer.shape[-1] < (buffer.shape[-1] if buffer.used is None else buffer.used))


def _pick_rows(buffer: Buffer, rows: Sequence[int], written: Sequence[WrittenElements]) -> NDArray[np.generic]:
    """These rows, each from what its block has written."""
    axis = buffer.rows or 0
    made = np.zeros((len(rows), *buffer.shape[:axis], *buffer.shape[axis + 1 :]), buffer.element.dtype)
    for place, (row, one) in enumerate(zip(rows, written, strict=True)):
        used = made[place : place + 1][..., : buffer.used]
        values = one.values[(_rows_of(buffer, one.places) == row) & _is_used(buffer, one.places)]
        used[...] = values.reshape(used.shape)
    return np.ascontiguousarray(np.moveaxis(made, 0, axis))

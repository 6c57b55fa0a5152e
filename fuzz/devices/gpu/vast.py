"""GPU trials of up to 2^32 elements and more: real arrays, filled and examined on the GPU itself.

Each array is mapped separately, with unmapped addresses on both sides as far as an int index reaches, so that an index
that overflows causes a fault. The host fetches one row of each kind from the answers, and every row that differs from
all of these in some bit, up to the job's limit. Knows memory and rows; the launcher is passed in, so it knows no CUDA.
Long because it fills, runs and examines the same arrays.
Long, since filling, running and examining share the array.
"""

import contextlib
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Circumstances, Finding, Job, Outcome, Probe, Run, Untried
from kfuzz.devices.gpu.reserving import reserve
from kfuzz.devices.memory.layout import (
    ALIGNED,
    BESIDE,
    OUTPUT,
    POISONS,
    SCRATCH,
    Bytes,
    fewest_runs,
    nbytes,
    offsets,
    repeat_word,
)
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.memory.vast import INT_COUNTS, KINDS
from kfuzz.oracle.numbers.plural import plural

LEFT = 4
"""One part in this many of the GPU's memory is left to other processes: a trial without room would be reported."""
NOWHERE = (1 << 64) - 1
MOST_SECONDS = 10.0
"""A longer run is not tried: a correct kernel may be slow with so many elements."""
MANY_BLOCKS, MANY_THREADS, FEW_THREADS = 1 << 13, 512, 32


class HeldMemory(Protocol):
    """GPU memory for one array: `size` bytes from `base` on."""

    @property
    def base(self) -> int: ...
    @property
    def size(self) -> int: ...
    def close(self) -> None: ...


class VastGpu(Protocol):
    """The operations of a GPU that these trials need."""

    @property
    def place(self) -> str:
        """The GPU's place in this machine, which no other GPU shares."""

    def room(self, nbytes: int) -> int:
        """How many bytes an array of this size takes."""

    def free(self) -> tuple[int, int]:
        """How many bytes of GPU memory are free, and how many there are."""

    def hold(self, nbytes: int) -> HeldMemory: ...

    def paint(self, address: int, words: int, word: int) -> None: ...

    def send(self, address: int, content: Bytes) -> None: ...

    def fetch(self, address: int, nbytes: int) -> Bytes: ...

    def call(self, function: str, blocks: int, threads: int, *arguments: int) -> None:
        """Launch a function of vast.cu."""

    def launch_at(self, job: Job, addresses: Mapping[str, int], word: int) -> None:
        """Launch the job's steps with this poison in shared memory, and wait for them; or raise Fault."""


@dataclass(frozen=True)
class _PlacedArray:
    """An array in its memory."""

    buffer: Buffer
    held: HeldMemory
    start: int

    @property
    def stop(self) -> int:
        return self.start + nbytes(self.buffer)

    @property
    def size(self) -> int:
        return self.buffer.element.bytes

    @property
    def walk(self) -> tuple[int, int, int, int]:
        """Length of a row, rows, adjacent elements of a row, and bytes of an element: the arguments for vast.cu."""
        shape, axis = self.buffer.shape, self.buffer.rows or 0
        return prod(shape) // max(1, shape[axis]), shape[axis], prod(shape[axis + 1 :]), self.size


def examine_vast(job: Job, probe: Probe, gpu: VastGpu) -> Outcome:
    """Run a whole grid on real arrays, each time with another poison; the notes say which rows are not judged."""
    with reserve("vast", gpu.place) as is_alone:  # many kernels begin such trials at once: all workers would queue
        if not is_alone:
            return Outcome(untried=Untried.CARD_IN_USE)
        free, total = gpu.free()
        if sum(gpu.room(_room_for(buffer)) for buffer in job.buffers) > free - total // LEFT:
            return Outcome(untried=Untried.DOES_NOT_FIT)
        rounds: list[list[int]] = []
        with contextlib.ExitStack() as stack:
            held = [_open(stack, gpu, _room_for(buffer)) for buffer in job.buffers]
            try:
                passes = [_run(job, probe, gpu, held, word, rounds) for word in POISONS[: fewest_runs(job)]]
            except Fault:
                stack.pop_all()  # the context has ended; its memory is freed with the process
                raise
    runs = tuple(run for run, _, _ in passes if run.rows)
    findings = list({(found.kind, found.array): found for _, seen, _ in passes for found in seen}.values())
    findings += find_unwritten_in_rows(job, runs)
    return Outcome(runs, tuple(findings), tuple(dict.fromkeys(note for _, _, notes in passes for note in notes)))


def mention_overflow(job: Job, found: Finding) -> Finding:
    """The finding of a fault, with the arrays whose size may have caused it."""
    huge = [buffer.name for buffer in job.buffers if prod(buffer.shape) > INT_COUNTS]
    if not huge:
        return found
    return replace(found, message=f"{found.message}; {', '.join(huge)}: more elements than an int of 32 bits counts")


def _open(stack: contextlib.ExitStack, gpu: VastGpu, nbytes: int) -> HeldMemory:
    held = gpu.hold(nbytes)
    stack.callback(held.close)
    return held


def _room_for(buffer: Buffer) -> int:
    return nbytes(buffer) + 2 * ALIGNED


def _run(
    job: Job, probe: Probe, gpu: VastGpu, held: Sequence[HeldMemory], word: int, rounds: list[list[int]]
) -> tuple[Run, list[Finding], list[str]]:
    """A run, its defects, and notes on rows that are not judged; `rounds` lists the rows to fetch."""
    at_end = word == POISONS[0]
    arrays = [
        _PlacedArray(buffer, one, _start_of(one, nbytes(buffer), distance, at_end))
        for buffer, one, distance in zip(job.buffers, held, offsets(job, probe.seed), strict=True)
    ]
    for one in arrays:
        _fill(gpu, one, word)
    began = time.perf_counter()
    gpu.launch_at(job, {one.buffer.name: one.start for one in arrays}, word)
    seconds = time.perf_counter() - began
    findings = [
        found for one in arrays for found in (*_find_writes_beside(gpu, one, word), *_find_changed_input(gpu, one))
    ]
    outputs = [one for one in arrays if one.buffer.is_output]
    most = job.vast.most_rows if job.vast else 0
    rows, left = _choose_rows(gpu, outputs, most, rounds) if most else ((), 0)
    circumstances = Circumstances(poison=word, edge="arrays", is_at_end=at_end)
    answers = {one.buffer.name: _fetch_rows(gpu, one, rows) for one in outputs} if rows else {}
    run = Run(circumstances, answers, seconds, rows)
    if not rows:
        return run, findings, ["answers of so large a row, or that need a whole huge array, are not judged"]
    return run, findings, [f"{plural(left, 'row')} of a content that no judged row has"] if left else []


def _start_of(held: HeldMemory, size: int, distance: int, at_end: bool) -> int:
    """Where an array begins: at this distance from a multiple of 256, at one end of its memory."""
    last = held.base + held.size - size
    return last - (last - distance) % ALIGNED if at_end else held.base + distance % ALIGNED


def _fill(gpu: VastGpu, one: _PlacedArray, word: int) -> None:
    """Fill the guards of an array, and write its content before the launch."""
    gpu.paint(one.held.base, one.held.size // 4, word + BESIDE)
    if one.buffer.alternates:
        gpu.call("write_alternating", MANY_BLOCKS, MANY_THREADS, one.start, *one.walk, one.buffer.element.one)
    elif one.buffer.content is not None:
        gpu.send(one.start, _bytes(one.buffer.content))
    elif one.buffer.fill is not None:
        _paint(gpu, one, 0)
    else:
        _paint(gpu, one, word + (OUTPUT if one.buffer.is_output else SCRATCH))


def _bytes(array: NDArray[np.generic]) -> Bytes:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _paint(gpu: VastGpu, one: _PlacedArray, word: int) -> None:
    """Fill an array with copies of a word from its first byte on; a GPU paints whole words at multiples of 4."""
    size = nbytes(one.buffer)
    head = min(-one.start % 4, size)
    words, tail = divmod(size - head, 4)
    painted = repeat_word(word, 8)
    gpu.send(one.start, painted[:head])
    gpu.paint(one.start + head, words, int(painted[head:][:4].copy().view(np.uint32)[0]))
    gpu.send(one.stop - tail, painted[head:][:tail])


def _find_writes_beside(gpu: VastGpu, one: _PlacedArray, word: int) -> Iterator[Finding]:
    """The write nearest to an array on each side, within the memory of the same page."""
    end = one.held.base + one.held.size
    for first, last in ((one.held.base, one.start), (one.stop, end)):
        begin = first - first % 4
        painted = repeat_word(word + BESIDE, last - begin)[first - begin :]
        changed = np.flatnonzero(gpu.fetch(first, last - first) != painted)
        if len(changed):
            byte = int(changed[0] if first == one.stop else changed[-1]) + first - one.start
            index = byte // one.size
            message = f"write beside {one.buffer.name}: element {index} of {prod(one.buffer.shape)}"
            yield Finding("out-of-bounds", message, array=one.buffer.name, index=index)


def _find_changed_input(gpu: VastGpu, one: _PlacedArray) -> Iterator[Finding]:
    """A finding if an input no longer holds its initial content."""
    buffer = one.buffer
    if buffer.is_output:
        return
    index = None
    if buffer.alternates:
        with _hold_numbers(gpu, [NOWHERE]) as found:
            gpu.call("find_changed", MANY_BLOCKS, MANY_THREADS, one.start, *one.walk, buffer.element.one, found.base)
            (at,) = _fetch_numbers(gpu, found.base, 1)
        index = at if at != NOWHERE else None
    elif buffer.content is not None:
        changed = np.flatnonzero(gpu.fetch(one.start, nbytes(buffer)) != _bytes(buffer.content))
        index = int(changed[0]) // one.size if len(changed) else None
    if index is not None:
        message = f"{buffer.name} is an input, and element {index} was changed"
        yield Finding("input-changed", message, array=buffer.name, index=index)


def _choose_rows(
    gpu: VastGpu, outputs: Sequence[_PlacedArray], most: int, rounds: list[list[int]]
) -> tuple[tuple[int, ...], int]:
    """The rows to judge, and how many rows are not equal to any of these, bit for bit, in all outputs.

    Each round compares every row that is not settled with one row of its kind. The next round uses the first row of
    each kind that differs. Rows that an earlier run chose come first.
    """
    count = outputs[0].walk[1]
    if not rounds:
        rounds.append(_take_first([kind if kind < count else -1 for kind in range(KINDS)], most))
    found: list[int] = []
    number, left = 0, count
    with _hold_zeros(gpu, count) as settled, _hold_zeros(gpu, count) as unlike:
        while left and number < len(rounds):
            found += [row for row in rounds[number] if row >= 0]
            left, first = _compare_rows(gpu, outputs, rounds[number], settled.base, unlike.base)
            number += 1
            if left and number == len(rounds) and len(found) < most:
                rounds.append(_take_first(first, most - len(found)))
    return tuple(sorted(found)), left


def _take_first(rows: Sequence[int], most: int) -> list[int]:
    """The first `most` of these rows, and -1 for the others."""
    given = itertools.accumulate(row >= 0 for row in rows)
    return [row if number <= most else -1 for row, number in zip(rows, given, strict=True)]


def _compare_rows(
    gpu: VastGpu, outputs: Sequence[_PlacedArray], like: Sequence[int], settled: int, unlike: int
) -> tuple[int, list[int]]:
    """How many rows still differ, and the first of each kind, or -1 if there is none."""
    rows = outputs[0].walk[1]
    with (
        _hold_numbers(gpu, [row % (1 << 64) for row in like]) as wanted,
        _hold_numbers(gpu, [NOWHERE] * KINDS + [0]) as answer,
    ):
        for one in outputs:
            threads = FEW_THREADS if one.walk[0] <= FEW_THREADS else MANY_THREADS
            blocks = min(rows, 16 * MANY_BLOCKS)
            gpu.call("mark_unlike", blocks, threads, one.start, *one.walk, wanted.base, settled, unlike)
        ends = (answer.base, answer.base + 8 * KINDS)
        gpu.call("settle", MANY_BLOCKS, MANY_THREADS, rows, wanted.base, settled, unlike, *ends)
        *first, left = _fetch_numbers(gpu, answer.base, KINDS + 1)
    return left, [row if row != NOWHERE else -1 for row in first]


def _fetch_rows(gpu: VastGpu, one: _PlacedArray, rows: Sequence[int]) -> NDArray[np.generic]:
    """Fetch rows of an output."""
    length, count, inner, size = one.walk
    axis = one.buffer.rows or 0
    pieces = [
        gpu.fetch(one.start + place * size, inner * size)
        for row in rows
        for place in range(row * inner, length * count, count * inner)
    ]
    shape = one.buffer.shape
    made = np.concatenate(pieces).view(one.buffer.element.dtype).reshape(len(rows), *shape[:axis], *shape[axis + 1 :])
    return np.ascontiguousarray(np.moveaxis(made, 0, axis))


def find_unwritten_in_rows(job: Job, runs: Sequence[Run]) -> Iterator[Finding]:
    """Elements that hold each run's own poison, in the rows that all runs fetched."""
    common = sorted(set.intersection(*(set(run.rows) for run in runs))) if runs else []
    for buffer in job.buffers if common else ():
        if not buffer.is_output or buffer.content is not None or buffer.fill is not None or buffer.rows:
            continue
        length, size = prod(buffer.shape[1:]), buffer.element.bytes
        missing = []
        for row in common:
            never = np.arange(length) % buffer.shape[-1] < (buffer.shape[-1] if buffer.used is None else buffer.used)
            for run, word in zip(runs, POISONS, strict=False):
                phase = row * length * size % 4
                painted = repeat_word(word + OUTPUT, phase + length * size)[phase:]
                got = _bytes(run.outputs[buffer.name][run.rows.index(row)]).reshape(length, size)
                never &= (got == painted.reshape(length, size)).all(axis=1)
            missing += [row * length + int(place) for place in np.flatnonzero(never)]
        if missing:
            looked_at = plural(len(common), "row")
            what = f"{plural(len(missing), 'element')} of {buffer.name}, in {looked_at} that were looked at"
            message = f"never written: {what}, from {missing[0]} on"
            yield Finding("unwritten", message, array=buffer.name, index=missing[0], count=len(missing))


@contextlib.contextmanager
def _hold_zeros(gpu: VastGpu, count: int) -> Iterator[HeldMemory]:
    held = gpu.hold(count)
    try:
        gpu.paint(held.base, held.size // 4, 0)
        yield held
    finally:
        held.close()


@contextlib.contextmanager
def _hold_numbers(gpu: VastGpu, numbers: Sequence[int]) -> Iterator[HeldMemory]:
    """64-bit numbers in GPU memory."""
    with _hold_zeros(gpu, 8 * len(numbers)) as held:
        gpu.send(held.base, np.array(numbers, np.uint64).view(np.uint8))
        yield held


def _fetch_numbers(gpu: VastGpu, address: int, count: int) -> list[int]:
    found: list[int] = gpu.fetch(address, 8 * count).view(np.uint64).tolist()
    return found

"""The places of a job's arrays in one run, and the memory between them.

An image is all the memory of a run as one array of bytes: guard, array, guard, array, ... Everything that the
job does not fill is painted with a poison word. Knows bytes and offsets; it knows no device.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Job
from kfuzz.oracle.numbers.layout import repeat_bytes

Bytes = NDArray[np.uint8]

POISONS = (0x7FBADBAD, 0x7E967699, 0xFE8CA5C3)
"""A NaN with a payload, 1e38 and about -1e38: a NaN alone goes unnoticed where NaN is expected, and fmaxf drops it.

Each byte differs in all three: else a correct answer of 16 or 8 bits could equal the poison of two runs, and seem
unwritten.
"""

OUTPUT, SCRATCH, BESIDE, SHARED = range(4)
"""Added to a poison word in each kind of memory, so that a copy from one kind is not mistaken for another."""

GUARD = 16384
"""Bytes between arrays: one step of a block of 1,024 threads that handle 16 bytes each."""

ALIGNED = 256


@dataclass(frozen=True)
class Arrangement:
    """The settings of one run: the order of arrays, the end of memory that they touch, and the poisons.

    `inside` gives single arrays a poison of their own, and `around` the guards on both sides of them.
    """

    order: tuple[int, ...]
    at_end: bool
    word: int
    shared: int
    inside: Mapping[int, int] = field(default_factory=dict)
    host: int | None = None
    """The poison of memory that a host function allocates, if it differs from `word`."""
    around: Mapping[int, int] = field(default_factory=dict)
    after_calls: bool = False
    """The job's earlier calls come first."""


@dataclass(frozen=True)
class Place:
    """One array in an image: its bytes are [start, stop), and it is the nearest array to all of [before, after)."""

    buffer: int
    start: int
    stop: int
    before: int
    after: int


def offsets(job: Job, seed: int) -> tuple[int, ...]:
    """Each base's distance from a multiple of 256, as far as the claim's `align` allows.

    They are the same in all runs of a trial: a correct kernel may add in another order at another alignment. One of
    three manners is drawn: all at multiples of 256; each array ends at one, so that no over-read stays in its last
    line; any distance.
    """
    draw = random.Random(f"offsets {seed}")  # noqa: S311  places are drawn for coverage, nothing is kept secret
    manner = draw.choice(("aligned", "tight", "any"))
    found = []
    for buffer in job.buffers:
        step = min(max(job.align, buffer.element.bytes), ALIGNED)
        if buffer.distance is not None:
            found.append(buffer.distance)
        elif manner == "aligned":
            found.append(0)
        elif manner == "tight":
            found.append(-nbytes(buffer) % ALIGNED // step * step)
        else:
            found.append(draw.randrange(0, ALIGNED, step))
    return tuple(found)


def distances(job: Job, seed: int) -> list[int]:
    """The distances on the cpu device: as aligned as the claim says, and mostly no better.

    They are the same in all runs of a trial: a correct kernel may add in another order at another alignment. For every
    third seed all arrays lie on multiples of 256.
    """
    draw = random.Random(f"distances {seed}")  # noqa: S311  drawn for coverage, nothing is kept secret
    found = []
    for buffer in job.buffers:
        step = min(max(job.align, buffer.element.bytes), ALIGNED)
        odd = draw.randrange(step, ALIGNED + step, 2 * step)
        free = 0 if seed % 3 == 2 or step == ALIGNED else odd
        found.append(free if buffer.distance is None else buffer.distance)
    return found


def plans(job: Job, runs: int, seed: int) -> tuple[Arrangement, ...]:
    """One plan per run: the poisons, the two ends of memory, and the array at that end take turns.

    If a job has earlier calls, they come before the second run.
    """
    count = sum(not buffer.is_returned for buffer in job.buffers)
    made = []
    for run in range(max(runs, fewest_runs(job))):
        turn = (seed + run // 2) % max(count, 1)
        order = tuple(range(turn + 1, count)) + tuple(range(turn + 1)) if count else ()
        at_end = run % 2 == 0
        word = POISONS[run % len(POISONS)]
        after_calls = run == 1 and bool(job.earlier)
        made.append(Arrangement(order if at_end else order[::-1], at_end, word, word, after_calls=after_calls))
    return tuple(made)


def fewest_runs(job: Job) -> int:
    """How many poisons show that an output is unwritten: three if its elements have 8 bits, else two.

    An answer of 8 bits equals a poison by chance, and one that depends on the run may equal two of them.
    """
    return 3 if any(one.is_output and one.element.bytes == 1 for one in job.buffers) else 2


def nbytes(buffer: Buffer) -> int:
    """The size of an array in bytes."""
    size = buffer.element.bytes
    for length in buffer.shape:
        size *= length
    return size


def places(job: Job, plan: Arrangement, distances: Sequence[int]) -> tuple[tuple[Place, ...], int]:
    """The place of each array of a job, in the order of addresses, and the size of the image in bytes.

    Arrays at the end of memory have no guard after the last; arrays at its start have none before the first.
    """
    spans = []
    cursor = GUARD if plan.at_end else 0
    for which in plan.order:
        start = cursor + (distances[which] - cursor) % ALIGNED
        stop = start + nbytes(job.buffers[which])
        spans.append((which, start, stop))
        cursor = stop + GUARD
    if plan.at_end and spans:
        cursor -= GUARD
    total = -(-max(cursor, 1) // ALIGNED) * ALIGNED
    middles = ((left + right) // 8 * 4 for (_, _, left), (_, right, _) in itertools.pairwise(spans))
    edges = [0, *middles, total]
    return tuple(
        Place(which, start, stop, before, after)
        for (which, start, stop), before, after in zip(spans, edges, edges[1:], strict=False)
    ), total


def paint_image(image: Bytes, job: Job, plan: Arrangement, where: Sequence[Place]) -> None:
    """Fill an image: poison everywhere, then each array as the job says."""
    _paint(image, 0, len(image), plan.word + BESIDE)
    for place in where:
        buffer = job.buffers[place.buffer]
        if (word := plan.around.get(place.buffer)) is not None:
            _paint(image, place.before, place.start, word + BESIDE)
            _paint(image, place.stop, place.after, word + BESIDE)
        if (content := initial_bytes(buffer)) is not None:
            image[place.start : place.stop] = content
        else:
            word = plan.inside.get(place.buffer, plan.word)
            _paint(image, place.start, place.stop, word + (OUTPUT if buffer.is_output else SCRATCH))


def repeat_word(word: int, nbytes: int) -> Bytes:
    """So many bytes, full of a poison."""
    return repeat_bytes(word.to_bytes(4, "little"), nbytes)


def initial_bytes(buffer: Buffer) -> Bytes | None:
    """The bytes that an array holds before the first launch; None if the job gives none, so that it is poisoned."""
    if buffer.content is not None:
        return np.ascontiguousarray(buffer.content).reshape(-1).view(np.uint8)
    if buffer.fill is not None:
        return np.full(buffer.shape, buffer.fill, f"<u{buffer.element.bytes}").reshape(-1).view(np.uint8)
    return None


def _paint(image: Bytes, start: int, stop: int, word: int) -> None:
    """Fill bytes from `start` to `stop` with copies of a word; the last copy may be cut off."""
    whole = start + (stop - start) // 4 * 4
    image[start:whole].view(np.uint32)[:] = np.uint32(word)
    if whole < stop:
        image[whole:stop] = np.frombuffer(word.to_bytes(4, "little"), np.uint8)[: stop - whole]

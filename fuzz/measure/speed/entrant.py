"""One kernel at one size on the GPU: its arrays in rotation, its launches as graphs, and rows of its answers.

Knows claims, jobs and the GPU; neither what it is timed against nor which answers are right.
"""

import random
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.plans.plan import input_shapes
from kfuzz.claims.bound import Bound
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Buffer, ClaimError, Job, Step
from kfuzz.devices.memory.layout import POISONS, nbytes
from kfuzz.devices.memory.vast import make_unfilled
from kfuzz.devices.vendor import GpuMemory, GpuSession, Replayable
from kfuzz.devices.vendors import vendor
from kfuzz.measure.speed.figures import Traffic
from kfuzz.measure.speed.protocol import Contestant, LaunchGraph
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import Element

NOISE = 1048573
"""How many random numbers fill an input by repetition: a prime, so that rows differ."""
DRAWS = 8
"""How many sets differ: drawing hundreds would take seconds."""
MOST_JUDGED = 1 << 18
"""Most elements of the answer that are judged: half a second of the oracle's time."""
MOST_ROWS = 64
LONGEST_ROW = 1 << 24
PACKED = 4096
PIECE = 1 << 28
"""Bytes of an answer that are searched at a time."""

RoleBytes = dict[str, NDArray[np.generic]]
JudgedRows = NDArray[np.int64] | None
"""The rows to judge; None if the whole answer is judged."""


class Rotation:
    """The arrays of a job, in several sets; inputs hold random numbers, and all other arrays a poison.

    Another launch of the same kernel needs only scratch of its own.
    """

    def __init__(self, kernel: Kernel, bound: Bound, sets: int) -> None:
        self.kernel, self.bound = kernel, bound
        self.sets = [{one.name: vendor().memory(nbytes(one)) for one in bound.job.buffers} for _ in range(sets)]
        for which in range(sets):
            self.renew(which, which % DRAWS)

    def for_launch(self, bound: Bound) -> "Rotation":
        """The same inputs and outputs, for another launch at the same sizes."""
        other = copy(self)
        scratch = [one for one in bound.job.buffers if self.is_scratch(one)]
        fresh = [{one.name: vendor().memory(nbytes(one)) for one in scratch} for _ in self.sets]
        other.bound, other.sets = bound, [{**old, **new} for old, new in zip(self.sets, fresh, strict=True)]
        return other

    def is_scratch(self, buffer: Buffer) -> bool:
        """Whether it is neither an input nor an output."""
        array = self.kernel.arrays[buffer.name]
        return not array.reads and not array.writes

    def renew(self, which: int, seed: int) -> None:
        """Put other random numbers into the inputs of a set, and poison into its outputs and scratch."""
        for buffer in self.bound.job.buffers:
            array = self.kernel.arrays[buffer.name]
            block: NDArray[np.generic] = np.array([POISONS[0]], np.uint32)
            if array.reads:
                block = self._numbers(str(array.reads), buffer, seed)
            self.sets[which][buffer.name].fill(block)

    def _numbers(self, role: str, buffer: Buffer, seed: int) -> NDArray[np.generic]:
        """Random numbers as the kernel holds them, within the values that it claims."""
        low, high = self.kernel.value_range or (-8.0, 8.0)
        numbers = np.clip(noise(seed, role), np.float32(low), np.float32(high))
        sizes = dict(zip(self.kernel.roles.inputs[role], buffer.shape, strict=False))
        for other, dimensions in self.kernel.roles.inputs.items():
            sizes |= dict(zip(dimensions, input_shapes(self.kernel, self.bound.axes)[other], strict=False))
        if role in self.kernel.roles.integers:
            numbers *= np.float32(sizes.get(self.kernel.roles.integers[role], 100))
        return self.kernel.store_array(role, numbers, buffer.element, sizes)


@lru_cache(maxsize=2 * DRAWS)
def noise(seed: int, role: str) -> NDArray[np.float32]:
    """Random numbers, the same for a seed and a role."""
    return np.random.default_rng([seed, *role.encode()]).standard_normal(NOISE, np.float32)


class TimedSubject(Protocol):
    """A kernel or function to time, with its arrays: `graph(n)` is n launches or calls, each with the next set."""

    arrays: Rotation

    def contestant(self, tune: Mapping[str, int]) -> Contestant: ...
    def graph(self, launches: int) -> LaunchGraph: ...

    def deliver_answers(self) -> str:
        """Put the first set's answers where they belong; return why that is impossible, or nothing."""


class Entrant:
    """A kernel that is launched over its arrays."""

    def __init__(self, session: GpuSession, arrays: Rotation) -> None:
        self._session, self.arrays = session, arrays
        job = arrays.bound.job
        self._kernels = vendor().kernels(session, job.path, job.source, job.flags, job.entries)
        self._room = vendor().memory(PACKED)
        self._arguments = [[self._pack_step(step, one) for step in job.steps] for one in arrays.sets]

    def contestant(self, tune: Mapping[str, int]) -> Contestant:
        """This kernel, as a contestant in the timing."""
        return Contestant(self.arrays.kernel.name, self.graph, tuple(tune.items()))

    def graph(self, launches: int) -> Replayable:
        """A number of launches, each on the next set."""

        def record() -> None:
            for number in range(launches):
                self._enqueue(number % len(self.arrays.sets))

        return self._session.graph(record)

    def deliver_answers(self) -> str:
        """Do nothing: its answers are already in place."""
        return ""

    def _enqueue(self, which: int) -> None:
        job = self.arrays.bound.job
        for buffer in job.buffers:
            if buffer.fill is not None and not self.arrays.kernel.arrays[buffer.name].reads:
                width = buffer.element.bytes
                address = self.arrays.sets[which][buffer.name].address
                vendor().set_bytes(address, buffer.fill, width, prod(buffer.shape), self._session.stream)
        for step, arguments in zip(job.steps, self._arguments[which], strict=True):
            self._kernels.launch(step, arguments, self._session.stream)

    def _pack_step(self, step: Step, arrays: Mapping[str, GpuMemory]) -> bytes:
        """The arguments of a launch."""
        values = [arrays[one].address if isinstance(one, str) else one for one in step.args]
        return self._kernels.pack(step.entry, values, self._room)


def bound_at(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> Bound:
    """The kernel at these sizes, with inputs that use no host memory."""
    return kernel.bind({role: make_unfilled(shape) for role, shape in input_shapes(kernel, axes).items()}, dict(tune))


def traffic_of(kernel: Kernel, job: Job) -> Traffic:
    """The bytes of the kernel's inputs and outputs."""
    buffers = {buffer.name: nbytes(buffer) for buffer in job.buffers}
    read = sum(size for name, size in buffers.items() if kernel.arrays[name].reads)
    written = sum(size for name, size in buffers.items() if kernel.arrays[name].writes)
    return Traffic(read, written)


def lend_inputs(arrays: Rotation) -> list[dict[str, tuple[GpuMemory, tuple[int, ...], Element]]]:
    """The inputs of each set by role, with shape and element type."""
    buffers = {buffer.name: buffer for buffer in arrays.bound.job.buffers}
    roles = {name: array.reads for name, array in arrays.kernel.arrays.items() if array.reads}
    return [
        {role: (one[name], buffers[name].shape, buffers[name].element) for name, role in roles.items()}
        for one in arrays.sets
    ]


def find_unwritten_output(arrays: Rotation, which: int) -> str:
    """The name of an output of a set that still holds the poison in some word; empty if there is none."""
    for buffer in arrays.bound.job.buffers:
        held = arrays.sets[which][buffer.name]
        if buffer.is_output and buffer.fill is None and buffer.part is None:
            for start in range(0, held.nbytes, PIECE):
                words = held.read(start, min(PIECE, held.nbytes - start) // 4 * 4).view(np.uint32)
                if (words == POISONS[0]).any():
                    return buffer.name
    return ""


def answers_of(arrays: Rotation, which: int, rows: JudgedRows) -> RoleBytes:
    """The answers in a set, by role; only these rows of arrays that are judged by row."""
    return {array.writes: _fetch(arrays, which, name, array.writes, rows)
            for name, array in arrays.kernel.arrays.items() if array.writes}  # fmt: skip


def inputs_of(arrays: Rotation, which: int, rows: JudgedRows) -> RoleBytes:
    """The inputs in a set, by role; only these rows of inputs that have a row for each row of the answer."""
    return {str(array.reads): _fetch(arrays, which, name, str(array.reads), rows)
            for name, array in arrays.kernel.arrays.items() if array.reads}  # fmt: skip


def choose_rows(kernel: Kernel, job: Job, seed: int) -> JudgedRows:
    """The rows of an answer to judge, the first and the last among them; None if the whole answer is judged.

    If a single row takes seconds, one is drawn. Raises ClaimError if even that takes the oracle too long.
    """
    output = next(buffer for buffer in job.buffers if kernel.arrays[buffer.name].writes)
    largest = max(prod(buffer.shape) for buffer in job.buffers if kernel.arrays[buffer.name].reads)
    is_by_row = find(kernel.op).takes_vector and len(output.shape) > 0
    input_rank = max(len(buffer.shape) for buffer in job.buffers if kernel.arrays[buffer.name].reads)
    count = output.shape[0] if is_by_row and input_rank > 1 else 1
    row = largest // max(count, 1)
    if row > LONGEST_ROW:
        raise ClaimError(f"{kernel.name}: no answer of so many elements is judged, and so none is timed")
    if count == 1:
        return None
    draw = random.Random(seed)  # noqa: S311  no secret
    if row > MOST_JUDGED:
        return np.array([draw.randrange(count)], np.int64)
    most = max(2, min(MOST_ROWS, MOST_JUDGED // max(1, row)))
    return np.array(sorted({0, count - 1, *draw.sample(range(count), min(count, most))}), np.int64)


def _fetch(arrays: Rotation, which: int, name: str, role: str, rows: JudgedRows) -> NDArray[np.generic]:
    """An array of a set; only these rows of it, if it has a row for each row of the answer."""
    buffer = next(buffer for buffer in arrays.bound.job.buffers if buffer.name == name)
    held, dtype = arrays.sets[which][name], buffer.element.dtype
    roles = arrays.kernel.roles
    dimensions, first = {**roles.inputs, **roles.outputs}[role], next(iter(roles.outputs.values()))[0]
    if rows is None or not dimensions or dimensions[0] != first:
        return held.read(0, nbytes(buffer)).view(dtype)[: prod(buffer.answer)].reshape(buffer.answer)
    row = prod(buffer.shape[1:]) * dtype.itemsize
    some = [held.read(int(one) * row, row).view(dtype) for one in rows]
    return np.stack(some).reshape(len(rows), *buffer.shape[1:])

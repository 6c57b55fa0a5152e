"""Trials of vast arrays: what the device runs, and the rows that the oracle judges.

All rows of a kind have the same inputs, so a row that equals a judged row of its kind bit for bit is judged with it.
Knows cases, claims and verdicts; it does not know how a device finds rows that differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import Case
from kfuzz.claims.arrays_in_memory import memory_axis, row_axis_of
from kfuzz.claims.blocks import is_by_block
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.arrays import Array
from kfuzz.claims.language.axes import MAX_ELEMENTS
from kfuzz.devices import Buffer, Job, VastPart
from kfuzz.devices.memory.vast import alternate_rows, choose_blocks, is_vast
from kfuzz.oracle.numbers.verdict import Verdict

MATRIX = 2
"""A stride lies between the rows of such an array; in a larger one it also lies within what an index holds together."""
MOST_ELEMENTS, MOST_ROWS = 1 << 22, 64
"""Elements and rows that are judged: this takes a second, or a few seconds for an expensive op."""
MOST_WORK = 1 << 24
"""The product of all sizes of what is judged: attention holds a score for each pair of a row and a key, so that a head
of 370,000 elements can have two billion of them. This takes up to 6 seconds and 1 GB."""


def choose_vast_part(kernel: Kernel, case: Case, job: Job, seed: int) -> Job:
    """The job with the part of it that is examined, if its arrays are vast and its blocks are independent."""
    is_large = case.is_vast or max(prod(buffer.shape) for buffer in job.buffers) > MAX_ELEMENTS
    if not is_large or not is_by_block(kernel):
        return job
    buffers = tuple(_place_rows(kernel, case, buffer) for buffer in job.buffers)
    most = _most_rows(kernel, case, buffers)
    return replace(job, buffers=buffers, vast=VastPart(choose_blocks(job.steps[0].grid, seed), most))


def _place_rows(kernel: Kernel, case: Case, buffer: Buffer) -> Buffer:
    """An array with the axis of its rows, and whether the device makes them."""
    array, roles = kernel.arrays[buffer.name], kernel.roles
    is_made = bool(array.reads and is_vast(case.arrays[array.reads]) and array.reads not in roles.integers)
    axis = row_axis_of(roles, array)
    return replace(buffer, rows=None if axis is None else memory_axis(array, axis), alternates=is_made)


def _most_rows(kernel: Kernel, case: Case, buffers: Sequence[Buffer]) -> int:
    """The number of rows to judge: 0 if a row is too long, or depends on the whole of a vast array."""
    whole = [role for role, array in case.arrays.items() if is_vast(array) and role not in kernel.roles.cut]
    if whole or any(one.is_output and (one.rows is None or one.part is not None) for one in buffers):
        return 0
    if any(one.alternates and not _alternates_by_element(kernel.arrays[one.name], one) for one in buffers):
        return 0
    by_row = [prod(buffer.shape) // max(1, buffer.shape[buffer.rows]) for buffer in buffers if buffer.rows is not None]
    rows = max((one.shape[one.rows] for one in buffers if one.is_output and one.rows is not None), default=1)
    work = prod(kernel.axes_of(case.arrays).values()) // max(1, rows)
    return min(MOST_ROWS, MOST_ELEMENTS // max(1, sum(by_row)), MOST_WORK // max(1, work))


def _alternates_by_element(array: Array, buffer: Buffer) -> bool:
    """Whether the rows of 0 and 1 in memory are rows of elements: not where words or tiles hold several of them."""
    gaps_within = array.layout.stride is not None and len(array.shape) > MATRIX
    return buffer.rows is not None and array.per == 1 and not gaps_within


def inputs_of_rows(kernel: Kernel, case: Case, rows: Sequence[int]) -> dict[str, NDArray[np.generic]]:
    """The inputs of these rows, in the kernel's element types."""
    return kernel.stored({role: _pick_rows(kernel, role, array, rows) for role, array in case.arrays.items()})


def _pick_rows(kernel: Kernel, role: str, array: NDArray[np.float32], rows: Sequence[int]) -> NDArray[np.float32]:
    axis = kernel.roles.cut.get(role)
    if axis is None:
        return array
    if not is_vast(array):
        return np.take(array, rows, axis)
    made = alternate_rows(array.shape, axis, rows)
    return np.zeros_like(made) if role in kernel.roles.integers else made


def number_rows(verdict: Verdict, answers: Mapping[str, NDArray[np.generic]], rows: Sequence[int]) -> Verdict:
    """A verdict on these rows, with the numbers that the rows have in the whole answer."""
    if verdict.inaccurate is not None:
        verdict = replace(verdict, inaccurate=number_rows(verdict.inaccurate, answers, rows))
    worst, extent = verdict.worst, verdict.extent
    if worst is None or extent is None:
        return verdict
    each = prod(answers[worst.output].shape[1:-1])  # the oracle numbers rows across all leading dimensions
    numbers = tuple(rows[row // each] * each + row % each for row in extent.rows)
    index = (rows[worst.index[0]], *worst.index[1:])
    return replace(verdict, worst=replace(worst, index=index), extent=replace(extent, rows=numbers), picture=None)

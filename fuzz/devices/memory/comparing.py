"""Compares several runs of one job: finds elements that are never written, and results that differ.

Knows bits and poisons; it knows no device and no right answer.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Finding, Job, Run
from kfuzz.devices.memory.layout import fewest_runs, nbytes
from kfuzz.oracle.numbers.plural import plural


def bits(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """The same memory as unsigned integers, so that NaN equals itself and -0 differs from 0."""
    return array.reshape(-1).view(f"u{array.dtype.itemsize}")


def poison_mask(array: NDArray[np.generic], word: int) -> NDArray[np.bool_]:
    """A mask of the elements that still hold the poison with which the array was filled."""
    size = array.dtype.itemsize
    whole = np.full(array.nbytes // 4 + 1, word, "<u4").view(np.uint8)[: array.nbytes]
    same: NDArray[np.bool_] = bits(array) == whole.view(f"u{size}")
    return same


def unwritten_mask(buffer: Buffer, runs: Sequence[Run], words: Sequence[int]) -> NDArray[np.bool_]:
    """A mask of the elements of an output that hold each run's own poison, without what no kernel need write."""
    # Most kernels write every element: the first run alone shows it.
    mask = poison_mask(runs[0].outputs[buffer.name], words[0])
    for run, word in zip(runs[1:], words[1:], strict=True):
        if mask.any():
            mask &= poison_mask(run.outputs[buffer.name], word)
    return mask if buffer.padding is None else mask & ~padded_elements(buffer)


def padded_elements(buffer: Buffer) -> NDArray[np.bool_]:
    """A mask of the elements of an output that no kernel need write."""
    assert buffer.padding is not None, "asked of a buffer with padding"
    return np.asarray(buffer.padding.reshape(-1, buffer.element.bytes).all(axis=1), np.bool_)


def find_unwritten(job: Job, runs: Sequence[Run], words: Sequence[int]) -> Iterator[Finding]:
    """Yield a finding for each output with elements that hold the run's own poison in every run."""
    if len(set(words)) < fewest_runs(job):
        return
    for buffer in job.buffers:
        if not _is_poisoned(buffer) or not buffer.is_output or not nbytes(buffer):
            continue
        never = unwritten_mask(buffer, runs, words)
        missing = np.flatnonzero(never)
        if len(missing):
            span = f"{missing[0]}" if len(missing) == 1 else f"{missing[0]} to {missing[-1]}"
            yield Finding(
                "unwritten",
                f"never written: {len(missing)} of {plural(never.size, 'element')} of {buffer.name}: {span}",
                array=buffer.name,
                index=int(missing[0]),
                count=len(missing),
            )


def find_written_absent(job: Job, runs: Sequence[Run], words: Sequence[int]) -> Iterator[Finding]:
    """Yield a finding for each output with a write to rows that are not there: they hold a run's poison no more."""
    for buffer in job.buffers:
        if not buffer.keeps_absent:
            continue
        written = np.zeros(prod(buffer.shape), np.bool_)
        for run, word in zip(runs, words, strict=True):
            left = run.outputs[buffer.name]
            kept = poison_mask(left, word) if buffer.content is None else bits(left) == bits(buffer.content)
            written |= ~kept
        written[: len(written) - buffer.absent] = False
        if written.any():
            index = int(np.flatnonzero(written)[0])
            count = int(written.sum())
            there = len(written) - buffer.absent
            message = f"{plural(count, 'element')} of {buffer.name} from {index} on, in rows that are not there"
            yield Finding(
                "absent-rows",
                f"write to {message}: those that are there end at {there}",
                array=buffer.name,
                index=index,
                count=count,
            )


def may_be_unwritten(job: Job, runs: Sequence[Run], words: Sequence[int]) -> bool:
    """Whether an element of an output holds the poison in every run; if none does, every element is written."""
    outputs = (buffer for buffer in job.buffers if buffer.is_output and _is_poisoned(buffer) and nbytes(buffer))
    return any(unwritten_mask(buffer, runs, words).any() for buffer in outputs)


def first_difference(
    job: Job, left: Run, left_word: int, right: Run, right_word: int
) -> tuple[str, int, int, int] | None:
    """The first element in which two runs differ: output, index and both bit patterns.

    Elements that hold each run's own poison do not count: they are unwritten, which is another finding.
    """
    for buffer in job.buffers:
        if not buffer.is_output:
            continue
        one, other = left.outputs[buffer.name], right.outputs[buffer.name]
        if one is other:
            continue
        where = difference_mask(buffer, one, left_word, other, right_word)
        if where.any():
            index = int(np.flatnonzero(where)[0])
            return buffer.name, index, int(bits(one)[index]), int(bits(other)[index])
    return None


def difference_mask(
    buffer: Buffer, one: NDArray[np.generic], one_word: int, other: NDArray[np.generic], other_word: int
) -> NDArray[np.bool_]:
    """A mask of the elements of an output in which two runs differ, except those that neither of them wrote."""
    where: NDArray[np.bool_] = bits(one) != bits(other)
    if buffer.padding is not None:
        where &= ~padded_elements(buffer)
    if where.any():
        where &= ~(default_nans(buffer, one) & default_nans(buffer, other))
    if _is_poisoned(buffer) and where.any():
        where &= ~(poison_mask(one, one_word) & poison_mask(other, other_word))
    return where


def default_nans(buffer: Buffer, array: NDArray[np.generic]) -> NDArray[np.bool_]:
    """A mask of the NaNs that a processor makes itself: without a payload, and of a sign that means nothing.

    That of inf - inf is negative on x86, and a product of a matrix by torch had either sign from call to call.
    """
    element = buffer.element
    if not element.is_float or element.specials != "ieee" or element.bits != 8 * array.dtype.itemsize:
        return np.zeros(array.size, np.bool_)
    exponent_and_quiet_bit = ((2 << element.exponent) - 1) << (element.bits - element.exponent - 2)
    unsigned: NDArray[np.unsignedinteger[Any]] = array.reshape(-1).view(f"u{array.dtype.itemsize}")
    found: NDArray[np.bool_] = np.left_shift(unsigned, 1) == exponent_and_quiet_bit << 1
    return found


def _is_poisoned(buffer: Buffer) -> bool:
    return buffer.content is None and buffer.fill is None

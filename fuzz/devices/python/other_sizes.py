"""Calls with other sizes, smaller and then larger, so that what a callable keeps has to grow and to shrink.

Knows callers and memory; it does not know which call counts.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from kfuzz.devices import Buffer, Job, OtherLibraryError
from kfuzz.devices.memory.layout import Bytes, initial_bytes, nbytes
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.calling import Caller, RefusedError
from kfuzz.devices.python.lent_memory import LentArray, Memory, Stretch


def call_other_sizes(
    caller: Caller, job: Job, word: int, watch: Callable[[Caller], AbstractContextManager[None]]
) -> None:
    """Make a job's earlier calls. Their inputs are overwritten afterwards, as by others who get their memory."""
    for earlier in job.earlier:
        buffers = tuple(replace(one, is_returned=False) for one in earlier.buffers)
        quiet = replace(caller, job=replace(earlier, buffers=buffers), findings=[], earlier=[])
        stretches, views = lay_out(quiet, caller.memory, word)
        try:
            with watch(quiet):
                quiet.answers(views, sizes_of(quiet))
        except (Fault, RefusedError, OtherLibraryError):
            if caller.memory.is_spent:
                raise
        for one in buffers:
            if one.name in stretches:
                stretches[one.name].write(overwritten(one, word))


def lay_out(caller: Caller, memory: Memory, word: int) -> tuple[dict[str, Stretch], dict[str, LentArray]]:
    """Memory of their own for the arrays that a call is handed, and the arrays in it."""
    handed = [one for one in caller.job.buffers if one.name not in caller.call.returns]
    stretches = {one.name: memory.beside(first_content(one, word)) for one in handed}
    return stretches, {one.name: stretches[one.name].view(np.empty(one.shape, one.element.dtype), 0) for one in handed}


def first_content(buffer: Buffer, word: int) -> Bytes:
    """The bytes of an array before a call: a poison if the job gives none."""
    given = initial_bytes(buffer)
    return poison_bytes(buffer, word) if given is None else given.copy()


def overwritten(buffer: Buffer, word: int) -> Bytes:
    """Bytes for an array that is no longer used: a poison; for integers zeros, which are an index everywhere."""
    is_index = buffer.content is not None and not buffer.element.is_float
    return np.zeros(nbytes(buffer), np.uint8) if is_index else poison_bytes(buffer, word)


def poison_bytes(buffer: Buffer, word: int) -> Bytes:
    """As many bytes as an array has, full of a poison."""
    size = nbytes(buffer)
    return np.full(-(-size // 4), word & 0xFFFFFFFF, np.uint32).view(np.uint8)[:size].copy()


def sizes_of(caller: Caller) -> dict[str, int]:
    """The numbers that a call is given, by name."""
    step, names = caller.job.steps[0], caller.call.declared
    return {name: value for name, value in zip(names, step.args, strict=True) if isinstance(value, int)}

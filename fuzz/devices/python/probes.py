"""Other inputs before a call, and other strides: they show bugs that a single call does not show.

Knows arrays of bits; it knows no library and no right answer.
"""

import random
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Decoy, Finding
from kfuzz.devices.memory.comparing import poison_mask
from kfuzz.devices.memory.layout import BESIDE, OUTPUT
from kfuzz.devices.python.lent_memory import LentArray, Memory
from kfuzz.oracle.numbers.elements import narrow, widen

PRELUDE_EVERY, PRELUDE, PRELUDE_ELEMENTS = 8, 128, 4096
"""One trial in this many begins with this many calls, if its arrays have at most this many elements."""
PRELUDES = 89
"""The numbers of these calls differ by up to this: a callable that is wrong in one call of so many meets a judge."""
ORDINARY_EVERY = 4
"""One trial in this many calls once more with memory that looks as other programs leave it."""
AT_ONCE_EVERY = 4
"""One trial in this many begins with the call that counts. A tuner that runs a kernel many times at its first call of
a size, on the caller's own output, is wrong there and never again."""
LATE_EVERY = 4
"""One trial in this many on a GPU also calls in a new stream, with an input that comes late."""
GAP = 3
"""Distance from one element to the next in a strided array."""


def decoy_of(buffer: Buffer, form: Decoy) -> NDArray[np.generic]:
    """Another input of the same shape: its remembered answer is wrong for the real input.

    What is a cache's key by address, shape, first and last element or sum is the same for one of these.
    """
    assert buffer.content is not None
    given = np.ascontiguousarray(buffer.content).reshape(-1).copy()
    if not buffer.element.is_float or buffer.element.is_narrow:
        given[1:-1] = given[1:-1][::-1].copy()
        return given.reshape(buffer.shape)
    if form is Decoy.TURNED:
        given[1:-1] = given[1:-1][::-1].copy()
        return given.reshape(buffer.shape)
    values = widen(given, buffer.element)
    with np.errstate(all="ignore"):
        if form is Decoy.HALF:
            values[1:-1] = values[1:-1] / 2
        elif len(values):  # an infinity stays: a mask that hides a key is not near one that does not
            values[:] = values * (1 + 1e-5)
            middle = values[len(values) // 2]
            values[len(values) // 2] = np.nextafter(middle, 0, dtype=values.dtype) if np.isfinite(middle) else middle
    return narrow(values, buffer.element).reshape(buffer.shape)


def form_of_decoy(seed: int, number: int) -> Decoy:
    """How the input before a call differs. Each form comes first in some trials: a cache by rounded numbers is filled
    by whatever comes first, and then only an answer that was kept of nearly the same input is wrong.
    """
    return list(Decoy)[(seed + number) % len(Decoy)]


def has_prelude(seed: int, elements: int) -> bool:
    """Whether a trial begins with many calls, which show a callable that turns wrong after a while."""
    return seed % PRELUDE_EVERY == PRELUDE_EVERY - 1 and elements <= PRELUDE_ELEMENTS


def prelude_of(seed: int) -> int:
    """How many calls a trial begins with, if it begins with many."""
    return PRELUDE + seed // PRELUDE_EVERY % PRELUDES


def begins_at_once(seed: int) -> bool:
    """Whether a trial's first call counts; in the other trials another input of the same size comes first."""
    return seed // (2 * PRELUDE_EVERY) % AT_ONCE_EVERY == 0


def has_ordinary_memory(seed: int) -> bool:
    """Whether a trial also allocates memory without poison, for a callable that looks for it."""
    return seed // 2 % ORDINARY_EVERY == 0


def is_other_answer(
    first: Mapping[str, NDArray[np.generic]], second: Mapping[str, NDArray[np.generic]], word: int
) -> bool:
    """Whether a second answer, in ordinary memory, counts instead of the first: they differ, and the first is whole."""
    is_whole = not any(poison_mask(array, word + OUTPUT).any() for array in first.values())
    return is_whole and any(not same_bits(array, second[name]) for name, array in first.items())


def has_late_input(seed: int) -> bool:
    """Whether a trial also calls before its input is there, which shows a callable that ignores its stream."""
    return seed % LATE_EVERY == 0


class Strided:
    """An input whose elements are not contiguous, over memory full of poison."""

    def __init__(self, content: NDArray[np.generic], word: int, seed: int, memory: Memory) -> None:
        self.form = random.Random(f"strides {seed}").choice(("gaps", "turned"))  # noqa: S311  for coverage
        shape, size = content.shape, content.dtype.itemsize
        count = content.size * (GAP if self.form == "gaps" else 1) * size
        self._bytes = np.full(-(-max(count, 4) // 4), word + BESIDE, "<u4").view(np.uint8)
        whole = self._bytes[:count].view(content.dtype)
        if self.form == "gaps":
            array = whole.reshape(*shape, GAP)[..., 1] if content.size else whole.reshape(shape)
        else:
            array = whole.reshape(shape[::-1]).transpose()
        array[...] = content
        self._call_with_decoy = self._bytes.copy()
        self._stretch = memory.beside(self._bytes)
        self._array = array
        self.view: LentArray = self._stretch.view(
            array, array.ctypes.data - self._bytes.ctypes.data if array.size else 0
        )

    def read(self) -> NDArray[np.generic]:
        """Its elements as they are now."""
        self._bytes[:] = self._stretch.read()
        return self._array

    def find_write(self, name: str) -> Finding | None:
        """A finding for a write between the elements."""
        if self.form != "gaps" or not self._array.size:
            return None
        size = self._array.dtype.itemsize
        changed = (self._bytes != self._call_with_decoy)[: self._array.size * GAP * size].reshape(-1, GAP, size)
        changed[:, 1] = False
        at = np.flatnonzero(changed.any(axis=(1, 2)))
        if not len(at):
            return None
        message = f"write between the elements of {name}, whose stride is {GAP}: beside element {at[0]}"
        return Finding("out-of-bounds", message, array=name, index=int(at[0]), count=len(at))


def same_bits(one: NDArray[np.generic], other: NDArray[np.generic]) -> bool:
    """Whether two arrays hold the same bytes."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()

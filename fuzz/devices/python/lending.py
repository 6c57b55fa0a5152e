"""What a library of arrays must provide: its own arrays over kfuzz's memory, and the content of its arrays.

It knows no library: libraries/ has one file for each.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Finding
from kfuzz.devices.memory.layout import BESIDE, OUTPUT
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.plural import plural

ITS_OWN = "what it allocates"
"""The array that such a finding names, without its size: it is one bug at all sizes."""
BESIDE_BYTES = 4096
"""Bytes of poison on either side of what a callable allocates."""


@dataclass(frozen=True)
class ReturnedArray:
    """What a callable returned: a copy of its bits, and its type.

    `is_exact`: its type is the library's array type and not a subclass. `address`: where its elements were.
    """

    kind: str
    element: str
    bits: NDArray[np.generic]
    is_exact: bool
    address: int


class Allocations(Protocol):
    """The memory that a callable allocated while it ran."""

    def findings(self) -> Iterator[Finding]:
        """The writes beside it."""


class UnseenAllocations:
    """Those of a library whose memory kfuzz does not see."""

    def findings(self) -> Iterator[Finding]:
        """Nothing."""
        yield from ()


class Lender(Protocol):
    """A library of arrays."""

    def lend(self, memory: LentArray, element: Element) -> object:
        """An array of the library over this memory, or a copy if the library's arrays cannot change."""

    def answer(self, value: object) -> ReturnedArray | None:
        """The content of an array of the library; None for any other value."""

    def watch(self, word: int) -> AbstractContextManager[Allocations]:
        """Surround what is allocated meanwhile with poison, and fill it too, as far as the library allows."""

    def stream(self) -> AbstractContextManager[int] | None:
        """A new stream, which is the current one meanwhile, by its handle; None if the library has no streams."""


Allocate = Callable[[int, str], int | None]
"""The address of so many bytes of a field, for an array that these words describe; None if it has no room for them."""


@runtime_checkable
class FieldLender(Lender, Protocol):
    """A library some of whose own arrays can lie in a field."""

    def watch_in_field(self, word: int, allocate: Allocate) -> AbstractContextManager[Allocations]:
        """Put what is allocated meanwhile into a field, as far as that and the library allow."""


@dataclass(frozen=True)
class CapturedCall:
    """A call in a graph: what it returned while it was captured, and how to replay it."""

    value: object
    replay: Callable[[], None]


@runtime_checkable
class GraphLender(Lender, Protocol):
    """A library that captures calls in graphs."""

    def capture(self, call: Callable[[], object]) -> CapturedCall:
        """Call a few times as usual, then once in a graph."""

    def occupy_free(self, word: int) -> Callable[[], int]:
        """Give free memory back to the driver, and fill with this word what the library keeps of it. The function says
        how many words have changed since, and lets go of them.
        """


ORDINARY = 0
"""In the place of a poison: memory that looks as other programs leave it, between guards as always."""
ORDINARY_NUMBERS = np.random.default_rng(0).standard_normal(4096).astype(np.float32).view(np.uint8)


def ordinary_bytes(nbytes: int) -> NDArray[np.uint8]:
    """Bytes of normal numbers, as an earlier computation has left them."""
    return np.resize(ORDINARY_NUMBERS, nbytes)


@dataclass(frozen=True)
class PoisonedBlock:
    """Memory that a callable allocated, with poison around it."""

    whole: NDArray[np.uint8]
    start: int
    stop: int
    words: str

    @property
    def body(self) -> NDArray[np.uint8]:
        return self.whole[self.start : self.stop]


def allocate_block(nbytes: int, word: int, words: str) -> PoisonedBlock:
    """Memory full of the poison of outputs, aligned to 64 bytes, between guards full of the poison of guards."""
    whole = np.zeros(BESIDE_BYTES + -(-nbytes // 64) * 64 + BESIDE_BYTES + 64, np.uint8)
    whole = whole[-whole.ctypes.data % 64 :]
    whole = whole[: len(whole) // 4 * 4]
    whole.view(np.uint32)[:] = np.uint32(word + BESIDE)
    start, stop = BESIDE_BYTES, BESIDE_BYTES + nbytes
    inside = np.full(-(-nbytes // 4), word + OUTPUT, np.uint32).view(np.uint8)
    inside = ordinary_bytes(nbytes) if word == ORDINARY else inside
    whole[start:stop] = inside[:nbytes]
    return PoisonedBlock(whole, start, stop, words)


def find_overwrites(blocks: list[PoisonedBlock], word: int) -> Iterator[Finding]:
    """A finding for each block that was written beside: the poison around it has changed."""
    for block in blocks:
        good = np.full(len(block.whole) // 4, word + BESIDE, np.uint32).view(np.uint8)
        wrong = block.whole != good
        wrong[block.start : block.stop] = False
        at = np.flatnonzero(wrong)
        yield from describe_overwrites(block.words, [int(one) - block.start for one in at], block.stop - block.start)


def describe_overwrites(words: str, at: Sequence[int], nbytes: int) -> Iterator[Finding]:
    """A finding for changed bytes beside an allocation, if there are any; `at` counts from its first byte."""
    if at:
        side = f"{plural(-at[0], 'byte')} before" if at[0] < 0 else f"{plural(at[0] - nbytes, 'byte')} after"
        message = f"write {side} {words} that the callable allocates, {plural(len(at), 'byte')} in all"
        yield Finding("out-of-bounds", message, array=ITS_OWN, index=at[0], count=len(at))

"""A field: painted memory in which a job's arrays lie far apart, so that a write far beyond one of them shows.

Guards are 16 KB wide; the gaps of a field are as wide as a share of the GPU's memory allows. Knows sizes and addresses;
it knows no GPU.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kfuzz.devices import Finding
from kfuzz.devices.memory.layout import ALIGNED
from kfuzz.oracle.numbers.plural import plural

LEFT, SHARE = 4, 16
"""A field takes at most one part in SHARE of a GPU's memory, and only if one part in LEFT stays free for others."""
MOST, LEAST = 8 << 30, 64 << 20
"""Bytes. A GPU fills and reads the most in a few milliseconds; with less than the least, gaps are hardly wider than
guards."""
VECTOR = 16
"""Bytes that the GPU compares at once. What lies nearer to an array than that is what guards are for."""


@dataclass(frozen=True)
class FarOptions:
    """`is_far`: the job runs once, in a field, and only writes outside its arrays count."""

    is_far: bool = False


@dataclass(frozen=True)
class FarArray:
    """An array in a field: its bytes are [start, stop). `name` is empty if the claim does not name it."""

    words: str
    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Slots:
    """The places of a field: `count` starts, `pitch` bytes apart from the first on, each for at most half a pitch."""

    first: int
    pitch: int
    count: int

    def __getitem__(self, place: int) -> int:
        return self.first + place * self.pitch

    @property
    def most_bytes(self) -> int:
        """The bytes of the largest array that a slot takes."""
        return self.pitch // 2 - ALIGNED


@dataclass(frozen=True)
class FarWrite:
    """The first and the last word of a gap that have changed: the address of each and what is there now."""

    first: int
    first_value: int
    last: int
    last_value: int
    words: int


def span_of(free: int, total: int) -> int:
    """The bytes that a field may take of a GPU's memory; 0 if it is too full."""
    span = min(MOST, total // SHARE, free - total // LEFT)
    return span if span >= LEAST else 0


def slots_of(base: int, span: int, count: int) -> Slots:
    """As many places, with the same gap before the first, between two and after the last."""
    pitch = span // (count + 1) // ALIGNED * ALIGNED
    return Slots(base + pitch // 2, pitch, count)


def gaps_of(arrays: Sequence[FarArray], base: int, end: int) -> Iterator[tuple[int, int]]:
    """What lies between arrays, in whole vectors."""
    every = sorted(arrays, key=lambda one: one.start)
    for left, right in zip([base, *(one.stop for one in every)], [*(one.start for one in every), end], strict=True):
        first, last = -(-left // VECTOR) * VECTOR, right // VECTOR * VECTOR
        if first < last:
            yield first, last


def find_writes(
    arrays: Sequence[FarArray], base: int, end: int, look: Callable[[int, int], FarWrite | None]
) -> Iterator[Finding]:
    """A finding for each gap in which something has changed."""
    for first, last in gaps_of(arrays, base, end):
        write = look(first, last)
        if write is not None:
            yield describe_write(arrays, write)


def describe_write(arrays: Sequence[FarArray], write: FarWrite) -> Finding:
    """A write outside all arrays: the array nearest to it, how far away that is, and what was written."""
    before = [(write.first - one.stop, False, one) for one in arrays if one.stop <= write.first]
    after = [(one.start - write.last - 4, True, one) for one in arrays if one.start > write.last]
    near = sorted([min(side, key=lambda one: one[0]) for side in (before, after) if side], key=lambda one: one[0])
    places = [f"{plural(distance, 'byte')} {'before' if is_before else 'after'} {one.words}"
              for distance, is_before, one in near]  # fmt: skip
    _, is_before, nearest = near[0]
    value = write.last_value if is_before else write.first_value
    message = f"write far away: 0x{value:08x}, {' and '.join(places)}; {plural(write.words, 'word')} in all"
    return Finding("out-of-bounds", message, array=nearest.name or None, count=write.words)

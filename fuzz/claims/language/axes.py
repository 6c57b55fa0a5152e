"""The axes and tune parameters of a claim: the sizes that a kernel takes, and the values of its launch parameters.

Knows how these are written; never what a size measures.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from kfuzz.claims.language import expression
from kfuzz.claims.language.place import ClaimPlace
from kfuzz.devices.limits import INT_MAX

RANGE = re.compile(r"\s*(\d+)\s*\.\.\s*(\d+)\s*")
MOST_DIGITS = 19
MAX_ELEMENTS = 1 << 26
"""The elements of an array that is written down; a larger one is vast (devices/memory/vast.py)."""
USAGE = (
    'an axis is "lo..hi", { min = lo, max = hi, multiple = m }, { min = lo, max = hi, pow2 = true } '
    "or a list of sizes, in non-negative integers"
)


@dataclass(frozen=True)
class Axis:
    """A named size: every multiple of `multiple` from lo to hi, or only those in `listed`."""

    lo: int
    hi: int
    multiple: int = 1
    listed: tuple[int, ...] = ()

    def __contains__(self, size: int) -> bool:
        return size in self.listed if self.listed else self.lo <= size <= self.hi and size % self.multiple == 0

    def near(self, size: int) -> int:
        """The largest size of the axis that is at most this one; the least if there is none."""
        if self.listed:
            return self.listed[max(0, bisect_right(self.listed, size) - 1)]
        size = max(self.lo, min(self.hi, size))
        return size - size % self.multiple

    def __str__(self) -> str:
        if self.listed:
            return ", ".join(map(str, self.listed))
        return f"{self.lo}..{self.hi}" + (f" by {self.multiple}" if self.multiple > 1 else "")


def parse_axis(place: ClaimPlace) -> Axis:
    """An axis is "lo..hi", a list of sizes, or a table of min, max and multiple or pow2."""
    value = place.value
    if isinstance(value, list):
        return list_sizes(place, value)
    if isinstance(value, dict) and "pow2" in value:
        return list_powers_of_two(place, value)
    if isinstance(value, dict):
        place.check_keys(("min", "max", "multiple"))
        numbers = [value.get("min"), value.get("max"), value.get("multiple", 1)]
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise place.error(USAGE)
        lo, hi, multiple = (int(str(number)) for number in numbers)
    else:
        ends = RANGE.fullmatch(value) if isinstance(value, str) else None
        if not ends or max(map(len, ends.groups())) > MOST_DIGITS:
            raise place.error(USAGE)
        lo, hi, multiple = int(ends[1]), int(ends[2]), 1
    if lo > hi:
        raise place.error(f"the least size {lo} is above the greatest, {hi}")
    if multiple < 1:
        raise place.error("multiple = 0; a multiple is at least 1")
    for size in (lo, hi):
        if size % multiple:
            raise place.error(f"{size} is no multiple of {multiple}; the nearest below is {size - size % multiple}")
    return Axis(lo, hi, multiple)


def list_sizes(place: ClaimPlace, sizes: Sequence[object]) -> Axis:
    """The axis of these sizes alone."""
    listed = sorted({size for size in sizes if type(size) is int and 0 <= size <= INT_MAX})
    if not listed or len(listed) < len(sizes):
        raise place.error(f"{USAGE}; each once, at most {INT_MAX}")
    return Axis(listed[0], listed[-1], 1, tuple(listed))


def list_powers_of_two(place: ClaimPlace, value: dict[str, object]) -> Axis:
    """The axis of the powers of two from min to max, which are powers of two themselves."""
    place.check_keys(("min", "max", "pow2"))
    lo, hi = value.get("min"), value.get("max")
    if value["pow2"] is not True or type(lo) is not int or type(hi) is not int:
        raise place.error(USAGE)
    for size in (lo, hi):
        if not expression.is_pow2(size):
            raise place.error(f"{size} is no power of two")
    powers = tuple(1 << shift for shift in range(lo.bit_length() - 1, hi.bit_length()))
    if not powers:
        raise place.error(f"the least size {lo} is above the greatest, {hi}")
    return Axis(lo, hi, 1, powers)


def parse_tune(place: ClaimPlace) -> tuple[int, ...]:
    """The values of a tune parameter; an argument of a Python function may be negative, such as dim = [1, -1]."""
    value, least = place.value, place.front.language.least_argument
    if not isinstance(value, list) or not all(type(item) is int and least <= item <= INT_MAX for item in value):
        raise place.error("a list of integers that fit an int is expected, such as [32, 64, 128]")
    if not value:
        raise place.error("an empty list leaves no way to launch; name at least one value")
    if len(set(value)) < len(value):
        raise place.error("a value occurs twice")
    return tuple(value)


def parse_home(place: ClaimPlace) -> dict[str, int]:
    """A size for each axis."""
    sizes = {}
    for name, inner in place.items():
        if type(inner.value) is not int:
            raise inner.error("an integer is expected: a size of the axis")
        sizes[name] = inner.value
    return sizes

"""The grid of a narrow type: its finite numbers in order, and the number of the grid to which any number rounds.

A number is looked up among the grid's boundaries and never cast by a library: torch, ml_dtypes and JAX convert float64
by way of float32, which is wrong beside every tie. Knows one element type; knows no claim.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import any_of

Direction = Literal["even", "away", "zero", "down", "up"]
"""To the nearest, of two the even one or the one further from 0; toward 0; to the next below; to the next above."""
Saturate = Literal["finite", "nan", "wrap"]
"""A number beyond the largest becomes the largest, or NaN (or infinity, if the type has one), or wraps around."""
GridPlaces = NDArray[np.intp]
NAN = -1
"""The place of NaN, and of infinity where a type has it: neither is a number of the grid."""


WHOLE: dict[Direction, Callable[[Reals], Reals]] = {
    "even": np.rint, "zero": np.trunc, "down": np.floor, "up": np.ceil,
    "away": lambda x: np.trunc(x) + np.copysign(np.abs(x - np.trunc(x)) >= 0.5, x),
}  # fmt: skip
"""Rounding to an integer of any size."""
KEY_BITS = 20
"""The first bits of a float64, sign and exponent included, of which a table knows the place up to one boundary."""
FEW = 64
"""Numbers that are searched for, since to make that table takes 40 ms: a claim's check asks for some, at any size."""


@dataclass(frozen=True)
class _Lookup:
    """The places of many numbers: a table by the first bits, then one comparison; ten times as fast as a search."""

    boundaries: NDArray[np.float64]
    first: NDArray[np.uint8]

    @classmethod
    def of(cls, boundaries: NDArray[np.float64]) -> "_Lookup":
        """Make the table: the place of the least number with the same first bits."""
        keys = np.arange(1 << KEY_BITS, dtype=np.uint64) << np.uint64(64 - KEY_BITS)
        ends = [bits.view(np.float64) for bits in (keys, keys | np.uint64((1 << (64 - KEY_BITS)) - 1))]
        first = np.searchsorted(boundaries, np.fmin(*ends))
        last = np.searchsorted(boundaries, np.fmax(*ends))
        assert np.all(last - first <= 1, where=~np.isnan(ends[0])), "two boundaries have the same first bits"
        return cls(np.append(boundaries, np.inf), first.astype(np.uint8))

    def places(self, x: Reals) -> GridPlaces:
        """How many boundaries lie below each number."""
        if x.dtype != np.float64:
            return np.searchsorted(self.boundaries[:-1], x)
        first = self.first[np.ascontiguousarray(x).view(np.uint64) >> np.uint64(64 - KEY_BITS)].astype(np.intp)
        return np.asarray(first + (x > self.boundaries[first]))


@dataclass(frozen=True)
class Grid:
    """The finite numbers of a type in ascending order; a number's place in them stands for all its codes.

    `symmetric`: the least integer is left out, so that -127 and not -128 is the least of i8.
    """

    element: Element
    symmetric: bool = False

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers; of 0 and -0 there is one."""
        every = self.element.numbers
        found = np.unique(every[np.isfinite(every)] + 0.0)
        return found[found >= -found[-1]] if self.symmetric else found

    @property
    def largest(self) -> float:
        """The largest number."""
        return float(self.numbers[-1])

    @cached_property
    def middles(self) -> NDArray[np.float64]:
        """The middle between each number and the next, which float64 has exactly."""
        return (self.numbers[:-1] + self.numbers[1:]) / 2

    @cached_property
    def is_even(self) -> NDArray[np.bool_]:
        """Whether a tie goes to this number: its last digit is 0. A power of two has the one digit 1: ties go up."""
        if self.element.kind == "power":
            return np.zeros(len(self.numbers), dtype=np.bool_)
        return np.array([self.codes_of(float(number))[0] % 2 == 0 for number in self.numbers])

    def boundaries(self, direction: Direction) -> NDArray[np.float64]:
        """For each number but the first the greatest float64 that still rounds to the number before it."""
        low, high = self.numbers[:-1], self.numbers[1:]
        below = np.nextafter
        match direction:
            case "up":
                return low
            case "down":
                return below(high, -np.inf)
            case "zero":
                return np.where(low >= 0, below(high, -np.inf), low)
            case "away":
                return np.where(low >= 0, below(self.middles, -np.inf), self.middles)
        return np.where(self.is_even[:-1], self.middles, below(self.middles, -np.inf))

    def places(self, x: Reals, direction: Direction = "even") -> GridPlaces:
        """The place to which each number rounds; beyond the ends the last place, and for NaN `NAN`."""
        if x.size <= FEW:
            found = np.searchsorted(_boundaries_of(self, direction), x)
        else:
            found = _lookup_of(self, direction).places(x)
        odd = np.isnan(x)
        return np.where(odd, NAN, found) if any_of(odd) else found

    def places_of(self, codes: NDArray[np.integer]) -> GridPlaces:
        """The place of each code's number; `NAN` for codes of NaN and infinity."""
        return np.asarray(self._place_of_code[codes])

    @cached_property
    def _place_of_code(self) -> GridPlaces:
        every = self.element.numbers
        place = np.searchsorted(self.numbers, every)
        known = np.isfinite(every) & np.isin(every, self.numbers)
        return np.where(known, place, NAN)

    def codes_of(self, number: float) -> tuple[int, ...]:
        """Every code of a number: two for 0 where there is a -0, and all NaNs for NaN."""
        every = self.element.numbers
        return tuple(np.flatnonzero(np.isnan(every) if np.isnan(number) else every == number).tolist())

    def round(self, x: Reals, direction: Direction = "even", saturate: Saturate = "finite") -> Reals:
        """Round to the grid's numbers.

        What "nan" makes of a number beyond the largest is infinity if there is one, and the largest without a NaN.
        """
        if saturate == "wrap":
            return self._wrap(x, direction)
        x = np.asarray(x, dtype=np.float64)
        place = self.places(x, direction)
        y = np.where(place == NAN, np.nan, self.numbers[place])
        if saturate == "finite" or (self.element.is_float and self.element.nan is None):
            return y
        over = self.is_beyond(x, direction)
        return np.where(over, np.copysign(np.inf if self.element.has_infinity else np.nan, x), y)

    def is_beyond(self, x: Reals, direction: Direction = "even") -> NDArray[np.bool_]:
        """Where a number would round to a further number beyond either end if there were one."""
        top = _is_past(x, self.numbers[-1], self.numbers[-2], bool(self.is_even[-1]), direction)
        if self.element.kind == "power":
            return top
        mirrored: Direction = {"up": "down", "down": "up"}.get(direction, direction)  # type: ignore[assignment]  # a str to mypy
        return top | _is_past(-x, -self.numbers[0], -self.numbers[1], bool(self.is_even[0]), mirrored)

    def _wrap(self, x: Reals, direction: Direction) -> Reals:
        """Round to an integer of any size and keep its last bits; infinity and NaN become 0."""
        if self.element.is_float:
            raise OracleError(f"a number beyond the largest {self.element} does not wrap around: only an integer does")
        x = np.where(np.isfinite(x), x, 0.0)
        whole = WHOLE[direction](x)
        least = self.element.least_integer
        return np.asarray(np.mod(whole - least, 2.0**self.element.bits) + least)


def _is_past(x: Reals, last: float, before: float, is_even: bool, direction: Direction) -> NDArray[np.bool_]:
    """Where x would round to the number that would follow `last`, as far from it as it is from the one before."""
    following = 2 * last if last == 2 * before else 2 * last - before
    middle = (last + following) / 2
    match direction:
        case "up":
            return np.asarray(x > last)
        case "even":
            return np.asarray(x > middle if is_even else x >= middle)
        case "away":
            return np.asarray(x >= middle)
    return np.asarray(x >= following)


@cache
def _lookup_of(grid: Grid, direction: Direction) -> _Lookup:
    return _Lookup.of(_boundaries_of(grid, direction))


@cache
def _boundaries_of(grid: Grid, direction: Direction) -> NDArray[np.float64]:
    return grid.boundaries(direction)


@cache
def grid_of(element: Element, symmetric: bool = False) -> Grid:
    """The grid of a type, made once."""
    if not element.is_narrow:
        raise OracleError(f"{element} has no grid: only a type of 8 bits or fewer is looked up")
    return Grid(element, symmetric)

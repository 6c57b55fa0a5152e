"""The grade of each element of an answer, by the sets that the runs of a reference left.

`proved`: by the roundings of the reference's own steps. `loosest`: by those of any arrangement.
Knows arrays; it knows no reference and no torch.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial

import numpy as np
from flint import arb
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.enclosure import ROUND_64, Bounds, Doubles, Enclosure, Index, Mask
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.numbers.verdict import Reason, Why

ROOM = 1 + 2.0**-20
"""docs/numerics.md#twins: float64 errs by far less than this part of what each step adds to a radius."""


class Grade(IntEnum):
    """What is known of an element."""

    KEPT = 0
    SUSPECT = 1
    BROKEN = 2
    UNJUDGED = 3


Grades = NDArray[np.int8]
Index64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SoughtPlaces:
    """Places in rows: right is each whose number may be what was sought.

    `among`: the numbers of each row, [rows, places]. For each element of an answer `row`, which is -1 if it is no
    place, and `wanted`, what lies there. `is_once`: no place of a row comes twice, but as the same `element`.
    `is_first`: of numbers that are equal, and known, the first is meant.
    """

    among: Doubles
    among_radius: Doubles
    row: Index64
    wanted: Doubles
    wanted_radius: Doubles
    element: Index64
    is_once: bool
    is_first: bool = False

    @property
    def are_places(self) -> Mask:
        """Which elements are places at all."""
        return np.asarray(self.row >= 0)

    def holds(self, answer: Doubles) -> Mask:
        """Which places of an answer are right, and all that are none."""
        got, row = answer.reshape(self.row.shape), np.maximum(self.row, 0)
        inside = (got >= 0) & (got < self.among.shape[-1]) & (got == np.floor(got))
        at = np.where(inside, got, 0).astype(np.int64)
        number, r = (part[row, at] for part in (self.among, self.among_radius))
        with np.errstate(invalid="ignore"):
            near = np.abs(number - self.wanted) * (1 - ROUND_64) <= r + self.wanted_radius
        near |= (
            (number == self.wanted) | (np.isnan(number) & np.isnan(self.wanted)) | ~np.isfinite(r + self.wanted_radius)
        )
        if self.is_first:
            every, wanted = self.among[row], self.wanted[..., np.newaxis]
            equal = (every == wanted) | (np.isnan(every) & np.isnan(wanted))
            known = (self.among_radius == 0).all(axis=-1)[row]
            near &= ~known | (at == np.argmax(equal, axis=-1))
        if self.is_once:
            near &= ~self.come_again(row, at)
        return np.asarray((inside & near) | ~self.are_places).reshape(answer.shape)

    def come_again(self, row: Index64, at: Index64) -> Mask:
        """Which places of a row are there in an earlier element of the answer."""
        place = np.where(self.are_places, row * self.among.shape[-1] + at, -1 - self.element).ravel()
        order = np.lexsort((np.arange(place.size), self.element.ravel(), place))
        place, element = place[order], self.element.ravel()[order]
        starts = np.r_[True, place[1:] != place[:-1]]
        first = element[np.maximum.accumulate(np.where(starts, np.arange(place.size), 0))]
        again = np.zeros(place.size, dtype=np.bool_)
        again[order] = element != first
        return again.reshape(row.shape)


@dataclass(frozen=True, eq=False)
class ReferenceSet:
    """One output: its exact values, and how far from them an answer may be. An integer and a truth are numbers, too.

    `may_be_nan`: of a gradient, which in another arrangement multiplies an infinity by 0. `shares`: along an axis they
    make up one, but for so much. `forms`: narrower sets, in one of which each number of a right answer lies. `is_odd`:
    which elements follow from infinities or NaNs that the maker of the inputs never makes: nothing is broken there.
    """

    x: Doubles
    proved: Doubles
    loosest: Doubles
    places: SoughtPlaces | None = None
    is_truth: bool = False
    may_be_nan: bool = False
    shares: tuple[int, Doubles] | None = None
    forms: tuple[tuple[Doubles, Doubles], ...] = ()
    is_odd: Mask | None = None

    @property
    def with_any_of_equal_places(self) -> "ReferenceSet":
        """The same set where a claim says that of equal numbers any is meant."""
        return self if self.places is None else replace(self, places=replace(self.places, is_first=False))

    def grade(self, got: Doubles, element: Element | None) -> Grades:
        """The grade of each element of an answer in this type; None is a type that stores any number."""
        grades = np.full(self.x.shape, Grade.KEPT, dtype=np.int8)
        beyond_proved, beyond_all = (
            ~self.is_in_a_form(got, element),
            self.is_outside(got, self.loosest, element),
        )
        grades[beyond_proved] = Grade.SUSPECT
        grades[beyond_all | ~self.make_up_one(got, element) & beyond_proved] = Grade.BROKEN
        no_nan = np.isnan(self.x) & ~np.isnan(got)  # another arrangement may not meet the NaN
        grades[no_nan & beyond_proved] = Grade.SUSPECT
        is_open = ~np.isfinite(self.proved) | (self.is_truth & (self.proved > 0))
        grades[is_open] = Grade.UNJUDGED
        if self.places is not None:
            right = np.where(self.places.holds(got), Grade.KEPT, Grade.BROKEN)
            grades = np.where(self.are_places, right, grades).astype(np.int8)
        if self.is_odd is not None:
            grades[self.is_odd & (grades == Grade.BROKEN)] = Grade.SUSPECT
        return grades

    def with_odd_nans(self, got: Doubles | None) -> "ReferenceSet":
        """The same set, in which each NaN of an answer is odd if an input has an odd number: blocks multiply it by the
        zeros of what they mask.
        """
        if self.is_odd is None or got is None or got.shape != self.x.shape:
            return self
        return replace(self, is_odd=self.is_odd | np.isnan(got))

    @property
    def are_places(self) -> Mask:
        """Which elements are places; none if there is no axis along which places were sought."""
        if self.places is None:
            return np.zeros(self.x.shape, dtype=np.bool_)
        return self.places.are_places.reshape(self.x.shape)

    def missing(self, element: Element | None) -> tuple[int, Doubles] | None:
        """How far from one the sum of stored shares may be, along an axis."""
        if self.shares is None or element is None:
            return self.shares
        axis, missed = self.shares
        return axis, missed + (1 + missed) * element.u + self.x.shape[axis] * element.tiny

    def make_up_one(self, got: Doubles, element: Element | None) -> Mask:
        """Whether shares do."""
        if (found := self.missing(element)) is None:
            return np.ones((), dtype=np.bool_)
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(np.abs(np.sum(got, axis=found[0], keepdims=True) - 1) <= found[1])

    def ends(self, radius: Doubles, element: Element | None) -> tuple[Doubles, Doubles]:
        """The least and the greatest answers within a radius, as they are stored."""
        with np.errstate(invalid="ignore", over="ignore"):
            wide = radius * ROOM + ROUND_64 * np.where(np.isfinite(self.x), np.abs(self.x), 0.0)
            low, high = self.x - wide, self.x + wide
            if element is not None and element.is_float:
                low, high = element.round(low), element.round(high)
        return np.where(np.isinf(radius), -np.inf, low), np.where(np.isinf(radius), np.inf, high)

    def enclosure(self, element: Element | None) -> Enclosure:
        """The same set as an enclosure. A number in the place of a NaN may come of another arrangement."""
        low, high = self.ends(self.proved, element)
        no_number = np.isnan(self.x)
        least, most = self.ends(self.loosest, element)
        least, most = np.where(no_number, -np.inf, least), np.where(no_number, np.inf, most)
        loosest = (least, most, self.missing(element))
        judged = np.isfinite(self.proved) | self.are_places
        none = np.zeros(self.x.shape)

        def exact(index: Index, bits: int) -> Bounds:
            return Bounds(*(arb(float(end[index])) for end in (low, self.x, high)))

        reasons = (Reason(Why.ANYTHING, int(np.sum(~judged))),) if not all_of(judged) else ()
        holds = None
        if self.places is not None:
            holds = partial(self.is_right, element=element)
        elif self.forms:
            holds = partial(self.is_in_a_form, element=element)
        low, high = (np.where(no_number, np.nan, end) for end in (low, high))
        return Enclosure(
            self.x, low, high, judged, none, none, exact, None, reasons, holds=holds,
            may_be_nan=np.ones(self.x.shape, dtype=np.bool_) if self.may_be_nan else None,
            loosest=loosest if self.places is None else self.loosest_places(least, most), anything=self.is_odd,
        )  # fmt: skip

    def loosest_places(self, least: Doubles, most: Doubles) -> tuple[Doubles, Doubles]:
        """The ends of any arrangement: a place that is not right has none."""
        return np.where(self.are_places, np.inf, least), np.where(self.are_places, -np.inf, most)

    def is_right(self, got: Doubles, element: Element | None) -> Mask:
        """Which elements are right places, or lie in their sets."""
        assert self.places is not None, "asked of places"
        return np.asarray(np.where(self.are_places, self.places.holds(got), self.is_in_a_form(got, element)))

    def is_in_a_form(self, got: Doubles, element: Element | None) -> Mask:
        """Which elements lie in one of the narrow sets, or in the only one."""
        forms = [replace(self, x=x, proved=r, forms=()) for x, r in self.forms] or [self]
        found = [~one.is_outside(got, one.proved, element) for one in forms]
        return np.asarray(np.any(found, axis=0) | (np.isnan(got) & self.may_be_nan))

    def is_outside(self, got: Doubles, radius: Doubles, element: Element | None) -> Mask:
        """Which elements lie beyond a radius."""
        low, high = self.ends(radius, element)
        with np.errstate(invalid="ignore"):
            inside = (got >= low) & (got <= high)
        return np.asarray(~(inside | (got == self.x) | (np.isnan(self.x) & np.isnan(got)) | np.isinf(radius)))

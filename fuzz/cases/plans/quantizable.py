"""Rows that break quantizers: amax at each place of a group, ties of the grid, groups of zeros, scales far apart.

One function a family, from a row's length, its groups and 64 bits, as in families.py. Knows float32 and grids; it knows
no op and no claim.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan

from kfuzz.cases.recipe import Band, Base, Edit, bits_of, value_of
from kfuzz.oracle.numbers.elements import Element, element_of
from kfuzz.oracle.numbers.enclosure import FLT_MAX


@dataclass(frozen=True)
class GroupPlan:
    """A row to make: its length, the columns of a group, the type to which it is quantized, and its own 64 bits."""

    cols: int
    group: int
    grid: str
    bits: int

    @property
    def largest(self) -> float:
        """The number of the grid to which amax goes."""
        return element_of(self.grid).max

    def pick(self, count: int, place: int = 0) -> int:
        """One of so many, by bits of its own."""
        return ((self.bits >> (16 + 8 * place)) & 0xFF) % count

    def noise(self, scale: float = 1.0) -> Base:
        return Base("normal", 0, bits_of(scale), self.bits & 0xFFFF)

    def in_each(self, column: int, value: float) -> Edit:
        """A value at one column of every group."""
        return Edit(min(column, self.cols - 1), -1, bits_of(value), every=max(self.group, 1))

    @property
    def scale(self) -> float:
        """A scale: a power of two, or any number."""
        power = 2.0 ** (self.pick(48, 1) - 24)
        return power if self.pick(2, 2) else power * (1 + self.pick(251, 3) / 256)


GroupFamily = Callable[[GroupPlan], Band]


def normal(row: GroupPlan) -> Band:
    return Band(row.noise())


def amax_last(row: GroupPlan) -> Band:
    """The largest of each group is its last element, and the row's last element is larger still."""
    edits = (row.in_each(row.group - 1, 4.5), Edit(-1, -1, bits_of((9.25, -9.25)[row.pick(2)])))
    return Band(row.noise(0.37), edits)


def amax_first(row: GroupPlan) -> Band:
    return Band(row.noise(0.37), (row.in_each(0, (5.1, -5.1)[row.pick(2)]),))


def amax_negative(row: GroupPlan) -> Band:
    """The largest of each group by size is negative."""
    return Band(row.noise(0.3), (row.in_each(row.pick(max(row.group, 1)), -6.3),))


def amax_anywhere(row: GroupPlan) -> Band:
    """The largest of each group lies at the same column of all, any of them."""
    return Band(row.noise(0.25), (row.in_each(row.pick(max(row.group, 1)), 4.0), row.in_each(row.pick(7, 1), -3.9)))


def ties(row: GroupPlan) -> Band:
    """Numbers of the grid and middles between them, times a scale, each moved by a few steps of float32."""
    scale = row.scale
    base = Base("ties", 0, bits_of(scale), row.bits & 0xFFFF, row.grid)
    largest = (row.largest, -row.largest)[row.pick(2, 4)] * value_of(bits_of(scale))
    return Band(base, (row.in_each((0, row.group - 1)[row.pick(2, 5)], largest),))


def amax_at_power(row: GroupPlan) -> Band:
    """amax is the largest number times a power of two, or one step beside it: the scale is a power, or nearly one."""
    bits = bits_of(row.largest * 2.0 ** (row.pick(40, 1) - 20)) + row.pick(3, 2) - 1
    return Band(row.noise(0.2 * value_of(bits)), (row.in_each(row.pick(max(row.group, 1), 3), value_of(bits)),))


def amax_is_power(row: GroupPlan) -> Band:
    """amax is a power of two, or one step beside it: its exponent is about to change."""
    bits = bits_of(2.0 ** (row.pick(60, 1) - 30)) + row.pick(3, 2) - 1
    return Band(row.noise(0.2 * value_of(bits)), (row.in_each(row.pick(max(row.group, 1), 3), value_of(bits)),))


def zero(row: GroupPlan) -> Band:
    return Band(Base("constant", bits_of((0.0, -0.0)[row.pick(2)])))


def zero_group(row: GroupPlan) -> Band:
    """A group of zeros among others."""
    group = max(row.group, 1)
    start = group * row.pick(max(1, -(-row.cols // group)))
    return Band(row.noise(), (Edit(start, start + group - 1, bits_of(0.0)),))


def nearly_zero_group(row: GroupPlan) -> Band:
    """Groups of which one element is not 0."""
    return Band(Base(), (row.in_each(row.pick(max(row.group, 1)), (1.0, -3e-7)[row.pick(2, 1)]),))


def outlier(row: GroupPlan) -> Band:
    """One element a million times as large as the others."""
    place = row.pick(row.cols) if row.cols < 256 else (row.bits >> 24) % row.cols
    return Band(row.noise(), (Edit(place, place, bits_of((1e6, -1e6)[row.pick(2, 5)])),))


def denormal(row: GroupPlan) -> Band:
    """So small that amax / largest is denormal, or 0."""
    return Band(row.noise((1e-41, 1e-38, 3e-36)[row.pick(3)]))


def tiny(row: GroupPlan) -> Band:
    """Below any eps, and about as large as one."""
    return Band(row.noise((1e-30, 1e-12, 1e-10, 1e-6)[row.pick(4)]))


def huge(row: GroupPlan) -> Band:
    """So large that amax times anything overflows."""
    return Band(row.noise(1e37), (row.in_each(row.pick(max(row.group, 1)), FLT_MAX),))


def equal(row: GroupPlan) -> Band:
    values = (1.0, -1.0, 0.7, 448.0, 1e-20, 3e4)
    return Band(Base("constant", bits_of(values[row.pick(len(values))])))


def apart(row: GroupPlan) -> Band:
    """The scale of each group is far from its neighbour's."""
    return Band(Base("apart", 0, bits_of(1.0), row.bits & 0xFFFF, width=max(row.group, 1)))


def apart_with_amax(row: GroupPlan) -> Band:
    """The same by size, and the sign of the largest changes from group to group."""
    edits = (row.in_each(row.group - 1, 0.0), row.in_each(0, -0.0))
    return Band(Base("apart", 0, bits_of(-3.0), row.bits & 0xFFFF, width=max(row.group, 1)), edits)


def halves(row: GroupPlan) -> Band:
    """Integers and halves, with amax the largest number: every half is a tie of an integer grid."""
    edits = (row.in_each(0, row.largest), row.in_each(row.group - 1, -row.largest))
    return Band(Base("ramp", bits_of(-17.5), bits_of((0.5, 1.5)[row.pick(2)])), edits[: 1 + row.pick(2, 1)])


def wide(row: GroupPlan) -> Band:
    """Sizes from 2^-16 to 2^15 beside each other: the small ones are denormal on the grid, or 0."""
    return Band(Base("power", 0, bits_of(1.0), row.bits & 0xFFFF))


def with_nan(row: GroupPlan) -> Band:
    bits = (0x7FC00000, 0xFFC00001, 0x7F812345)[row.pick(3, 1)]
    place = (row.bits >> 24) % max(row.cols, 1)
    return Band(row.noise(), (Edit(place, place, bits),))


def with_infinity(row: GroupPlan) -> Band:
    place = (row.bits >> 24) % max(row.cols, 1)
    return Band(row.noise(), (Edit(place, place, (0x7F800000, 0xFF800000)[row.pick(2, 1)]),))


GROUPS: tuple[GroupFamily, ...] = (
    normal, amax_last, ties, zero_group, apart, amax_negative, halves, amax_at_power, outlier, zero, amax_first,
    amax_is_power, wide, denormal, ties, equal, amax_anywhere, nearly_zero_group, tiny, apart_with_amax, huge,
)  # fmt: skip
"""Neighbours in this order differ much, so that a scale of another row, or of another group, shows."""


def codes_of_row(element: Element, bits: int) -> Band:
    """A row of codes: all finite ones, numbers about 1, the largest, both zeros, one outlier; by 64 bits."""
    seed, which, largest = bits & 0xFFFF, (bits >> 16) % 8, element.max
    noise = Base("normal", 0, bits_of(largest / 4 if element.exponent == 0 else 1.0), seed)
    rows = (
        Band(Base("codes", seed=seed)),
        Band(noise),
        Band(Base("counter", seed=seed)),
        Band(Base("sign", 0, bits_of(largest), seed)),
        Band(Base("constant", bits_of(largest))),
        Band(Base("constant", bits_of(-0.0)), (Edit(bits >> 24 & 7, -1, bits_of(1.0), every=8),)),
        Band(Base("normal", 0, bits_of(0.05 * largest), seed), (Edit(-1, -1, bits_of(-largest)),)),
        Band(Base("integer", 0, bits_of(1.0), seed)),
    )
    band = rows[which]
    return Band(Base("codes", seed=seed)) if which == 2 and element.nan is not None else band


def least_above_0(element: Element) -> float:
    """The least number of a narrow type above 0."""
    return float(min(number for number in element.numbers if number > 0))


def scales_of_row(element: Element, bits: int, has_nan: bool = False) -> Band:
    """A row of scales above 0 that differ from one to the next: powers of two, near them, any, small, large.

    One row in sixteen of a narrow type also has its least and its largest number, and NaN if that `has_nan`: a kernel
    that makes the float from the bits of the code may have another value for these.
    """
    seed, which = bits & 0xFFFF, (bits >> 16) % 5
    power = 2.0 ** ((bits >> 24) % 16 - 8)
    if element.is_narrow or which == 0:  # one to eight powers of two above the first
        base = Base("uniform", bits_of(power), bits_of((7.0, 100.0)[bits >> 32 & 1] * power), seed)
        if not element.is_narrow or (bits >> 40) % 16:
            return Band(base)
        ends = [least_above_0(element), element.max, *([nan] if has_nan else [])]
        first = (bits >> 44) % len(ends)
        ends = ends[first:] + ends[:first]
        return Band(base, tuple(Edit(i, -1, bits_of(end), every=len(ends) + 1) for i, end in enumerate(ends)))
    rows = (
        Band(Base("uniform", bits_of(0.004), bits_of(0.01), seed)),
        Band(
            Base("constant", bits_of(power)),
            (Edit(1, -1, bits_of(power * 1.9), every=2), Edit(2, -1, bits_of(power / 3), every=5)),
        ),
        Band(Base("ramp", bits_of(power), bits_of(power / 7))),
        Band(Base("uniform", bits_of(1e-6), bits_of((1e-5, 1e3)[bits >> 32 & 1]), seed)),
    )
    return rows[which - 1]

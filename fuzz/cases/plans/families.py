"""Families of hostile rows, which break softmax-like kernels: one function each, from a row's length and 64 bits.

Each family is a recipe band that describes the row. Knows float32 and the edges of a row; it knows no op and no claim.
Families with NaN or +inf are separate, since few claims cover them.
Long, since there are many families of a few lines each.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kfuzz.cases.recipe import MAX_EDITS, Band, Base, BaseKind, Edit, EditOp, bits_of
from kfuzz.oracle.numbers.enclosure import FLT_MAX

NEG_INF, POS_INF, NAN = 0xFF800000, 0x7F800000, 0x7FC00000


@dataclass(frozen=True)
class RowPlan:
    """A row to make: its length, its columns of interest, the widths that divide it, and its own 64 bits.

    `named`: the floats in the kernel's text, with which it may compare elements.
    """

    cols: int
    columns: tuple[int, ...]
    widths: tuple[int, ...]
    bits: int
    named: tuple[float, ...] = ()

    @property
    def seed(self) -> int:
        return self.bits & 0xFFFF

    def pick(self, count: int, place: int = 0) -> int:
        """One of so many, by bits of its own."""
        return ((self.bits >> (16 + 12 * place)) & 0xFFF) % count

    def column(self, place: int = 0) -> int:
        """A column at an edge, or one time in four any column."""
        which = self.pick(0x1000, place)
        if which & 3 == 3 and self.cols > 1:
            return (self.bits >> 20) % self.cols
        return self.columns[(which >> 2) % len(self.columns)] if self.columns else 0

    def width(self, place: int = 0) -> int:
        """A width that divides the row into at least two parts, if there is one."""
        fitting = [width for width in self.widths if width < self.cols] or [1]
        return fitting[self.pick(len(fitting), place)]


Family = Callable[[RowPlan], Band]


def noise(row: RowPlan, offset: float = 0.0, scale: float = 1.0, kind: BaseKind = "normal") -> Base:
    return Base(kind, bits_of(offset), bits_of(scale), row.seed)


def noise_of(bits: int, offset: float = 0.0, scale: float = 1.0) -> Base:
    """Normal noise with its own seed."""
    return Base("normal", bits_of(offset), bits_of(scale), bits & 0xFFFF)


def at(column: int, value: float, op: EditOp = "set") -> Edit:
    return Edit(column, column, bits_of(value), op)


def zero(row: RowPlan) -> Band:
    return Band()


def constant(row: RowPlan) -> Band:
    values = (1.0, 0.7, 0.1, -0.0, -1.0, 88.0, -87.5, 1e-20, 2.0**-126, 2.0**-149, -(2.0**-149), 1e30, FLT_MAX)
    return Band(Base("constant", bits_of(values[row.pick(len(values))])))


def normal(row: RowPlan) -> Band:
    return Band(noise(row))


def spike(row: RowPlan) -> Band:
    """One element makes up nearly all of the sum, so that dropping it or counting it twice shows."""
    return Band(noise(row), (at(row.column(), 12.0, "add"),))


def tower(row: RowPlan) -> Band:
    """One element so far above the rest that a maximum which misses it overflows."""
    return Band(noise(row), (at(row.column(), 120.0, "add"),))


def last_spike(row: RowPlan) -> Band:
    return Band(noise(row), (at(-1, (12.0, 120.0)[row.pick(2)], "add"),))


def twin_spikes(row: RowPlan) -> Band:
    return Band(noise(row), (at(row.column(), 15.0), at(row.column(1), 15.0)))


def far_below(row: RowPlan) -> Band:
    """A maximum that starts at 0 loses the whole row."""
    return Band(noise(row, (-200.0, -300.0, -1e4, -1e20)[row.pick(4)]))


def lowest(row: RowPlan) -> Band:
    """-FLT_MAX as a value, and mostly as the maximum: a kernel that uses it for -inf ignores it."""
    column = row.column()
    other = (bits_of(-FLT_MAX), NEG_INF, bits_of(-3e38), bits_of(-1e38))[row.pick(4, 2) & row.pick(4, 3)]
    return Band(Base("constant", bits_of(-FLT_MAX)), (Edit(column, column, other),))


def above_lowest(row: RowPlan) -> Band:
    return Band(noise(row, -3.2e38, 2e36, "uniform"))


def all_neg_inf(row: RowPlan) -> Band:
    return Band(Base("constant", NEG_INF))


def leading_neg_inf(row: RowPlan) -> Band:
    """A running maximum meets -inf first: exp(-inf - -inf) is NaN."""
    last = (0, 1, row.width() - 1, 2 * row.width() - 1, row.cols // 2)[row.pick(5, 1)]
    return Band(noise(row), (Edit(0, min(last, row.cols - 2), NEG_INF),))


def trailing_neg_inf(row: RowPlan) -> Band:
    back = (1, 2, row.width(), row.cols // 2)[row.pick(4, 1)]
    return Band(noise(row), (Edit(-max(1, min(back, row.cols - 1)), -1, NEG_INF),))


def share_neg_inf(row: RowPlan) -> Band:
    """All elements of one thread are -inf."""
    width = row.width()
    return Band(noise(row), (Edit(row.pick(width, 1), -1, NEG_INF, every=width),))


def tile_neg_inf(row: RowPlan) -> Band:
    return Band(noise(row), (_tile(row, NEG_INF, "set"),))


def alternating_neg_inf(row: RowPlan) -> Band:
    return Band(noise(row), (Edit(row.pick(2), -1, NEG_INF, every=2),))


def one_neg_inf(row: RowPlan) -> Band:
    return Band(noise(row), (Edit(row.column(), row.column(), NEG_INF),))


def one_finite(row: RowPlan) -> Band:
    value = (0.0, 5.0, -300.0, -FLT_MAX, FLT_MAX)[row.pick(5, 1)]
    return Band(Base("constant", NEG_INF), (at(row.column(), value),))


def extremes(row: RowPlan) -> Band:
    """+FLT_MAX beside -FLT_MAX: their difference is infinite."""
    edits = (Edit(row.pick(2), -1, bits_of(FLT_MAX), every=2),) if row.pick(2, 1) else (at(row.column(), FLT_MAX),)
    return Band(Base("constant", bits_of(-FLT_MAX)), edits)


def one_huge(row: RowPlan) -> Band:
    value = (FLT_MAX, -FLT_MAX, 1e30, -1e30)[row.pick(4, 1)]
    return Band(noise(row), (at(row.column(), value),))


def wide(row: RowPlan) -> Band:
    return Band(noise(row, -100.0, 100.0, "uniform"))


def offset(row: RowPlan) -> Band:
    return Band(noise(row, (25.0, -25.0, 88.5, -90.0)[row.pick(4)]))


def tiny(row: RowPlan) -> Band:
    return Band(noise(row, 0.0, 1e-20))


def denormal(row: RowPlan) -> Band:
    return Band(noise(row, 0.0, 1e-40))


def denormal_results(row: RowPlan) -> Band:
    """exp of these is below the least normal number."""
    return Band(noise(row, -104.0, 17.0, "uniform"), (at(row.column(), 0.0),))


def near_ties(row: RowPlan) -> Band:
    """Each element is the next float: every one is a new maximum."""
    return Band(noise(row, 0.7, 2.0**-24, "ramp"))


def creeping(row: RowPlan) -> Band:
    """New maxima whose distance exp rounds to 1."""
    return Band(noise(row, 0.0, 1e-9, "ramp"))


def ascending(row: RowPlan) -> Band:
    return Band(noise(row, -50.0, (0.1, 1.0, 30.0, 200.0 / max(row.cols, 1))[row.pick(4)], "ramp"))


def descending(row: RowPlan) -> Band:
    return Band(noise(row, 50.0, -(0.1, 1.0, 30.0, 200.0 / max(row.cols, 1))[row.pick(4)], "ramp"))


def staircase(row: RowPlan) -> Band:
    """Each tile is higher, or lower, than the one before: all threads round the same way, and nothing cancels."""
    width = row.width()
    step = (0.35, -0.35, 1.1, -1.1, 2.7, 5.3, -5.3, 9.7)[row.pick(8, 2)]
    starts = range(width, row.cols, width)[: MAX_EDITS - 1]
    return Band(Base(), tuple(Edit(start, -1, bits_of(step), "add") for start in starts))


def high_tile(row: RowPlan) -> Band:
    """One tile is the only one that counts."""
    return Band(noise(row), (_tile(row, bits_of((120.0, 12.0)[row.pick(2, 2)]), "add"),))


def high_tail(row: RowPlan) -> Band:
    """The rest after whole vectors or tiles counts most."""
    width = row.width()
    left = row.cols % width or width
    return Band(noise(row), (Edit(-min(left, row.cols), -1, bits_of(12.0), "add"),))


def large_spread(row: RowPlan) -> Band:
    return Band(noise(row, 0.0, (1e4, 1e30)[row.pick(2)]))


def integers(row: RowPlan) -> Band:
    return Band(noise(row, 0.0, 1.0, "integer"))


def powers(row: RowPlan) -> Band:
    return Band(noise(row, 0.0, 1.0, "power"))


def cancelling(row: RowPlan) -> Band:
    """Terms that cancel; or terms that are each lost beside a first one of 1, though their sum is not."""
    if row.pick(2, 1):
        return Band(
            Base("constant", bits_of(0.98 * 2.0**-24)),
            (at(row.columns[0] if row.columns and row.pick(4, 2) else 1, 1.0),),
        )
    return Band(noise(row, 0.1, 1e6, "sign"))


def all_negative(row: RowPlan) -> Band:
    return Band(noise(row, -2.0, 1.0, "uniform"))


def sentinel(row: RowPlan) -> Band:
    """The maximum is a number that kernels use for "nothing yet" in place of -inf, or one in the kernel's text.

    A named one of either sign, with every other element below it or above.
    """
    value, other = (2.0**-126, -1e4, -1e9, -1e30)[row.pick(4)], -1.0
    if row.named and row.pick(2, 3):
        value = row.named[row.pick(len(row.named))] * (-1.0, 1.0)[row.pick(2, 2)]
        other = (-1.0, 1.0)[row.pick(4, 2) // 2]
    step = Edit(row.pick(2, 1), -1, bits_of(other * (abs(value) * 0.5 + 1.0)), "add", every=2)
    return Band(Base("constant", bits_of(value)), (Edit(0, -1, bits_of(value)), step))


def counterweight(row: RowPlan) -> Band:
    """One maximum, and many elements at one distance below it that together weigh as much, or seven times as much.

    They are all rounded in the same way, so that an error of exp does not average out.
    """
    distance = 0.6931 * row.cols.bit_length() - row.pick(64, 1) / 32  # near ln(cols), log() differs between machines
    return Band(Base("constant", bits_of(-max(distance, 1.0))), (at(row.column(), 0.0),))


def signed_zeros(row: RowPlan) -> Band:
    """-0 beside 0, alone, or as the maximum of negative elements: as an integer, -0 is the least number."""
    form = row.pick(4, 1)
    if form < 2:
        return Band(Base("constant", bits_of(-0.0)), (at(row.column(), 0.0),) if form == 0 else ())
    return Band(noise(row, -2.0, 1.0, "uniform"), (at(row.column(), -0.0),))


def with_nan(row: RowPlan) -> Band:
    bits = (NAN, 0xFFC00001, 0x7F812345)[row.pick(3, 1)]
    return Band(noise(row), (Edit(row.column(), row.column(), bits),))


def with_pos_inf(row: RowPlan) -> Band:
    edits = (Edit(row.column(), row.column(), POS_INF),)
    return Band(noise(row), edits if row.pick(2, 2) else (*edits, Edit(row.column(1), row.column(1), NEG_INF)))


def _tile(row: RowPlan, bits: int, op: EditOp) -> Edit:
    width = row.width()
    start = width * row.pick(max(1, -(-row.cols // width)), 1)
    return Edit(start, start + width - 1, bits, op)


ROWS: tuple[Family, ...] = (
    zero, normal, spike, leading_neg_inf, last_spike, far_below, tower, constant, all_neg_inf, high_tail, lowest,
    ascending, one_finite, wide, share_neg_inf, high_tile, denormal_results, near_ties,
    alternating_neg_inf, twin_spikes, offset, extremes, trailing_neg_inf, integers, descending, tiny, one_huge,
    cancelling, tile_neg_inf, above_lowest, powers, one_neg_inf, creeping, denormal, all_negative, large_spread,
    signed_zeros, staircase, sentinel, counterweight,
)  # fmt: skip
"""Neighbours in this order differ much, so that a leak from one row into the next shows."""

PLACED: tuple[Family, ...] = (
    spike, leading_neg_inf, last_spike, high_tail, tower, share_neg_inf, high_tile, alternating_neg_inf, twin_spikes,
    trailing_neg_inf, tile_neg_inf, one_neg_inf, one_huge, staircase,
)  # fmt: skip
"""The families that consist of edits, and so can be combined with another family."""

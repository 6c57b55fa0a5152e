"""Rounding to a grid of few numbers: rules N1, N2, N4, N7, N10 and N12 of docs/formulas.md."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS, QUOTIENT_ROUNDINGS
from kfuzz.oracle.numbers.elements import F32, F64, FORMATS, Element, Reals
from kfuzz.oracle.numbers.grid import WHOLE, Grid, grid_of
from kfuzz.oracle.numbers.groups import value_of_block
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.intervals import empty_where, flush
from kfuzz.oracle.systems.value import QUOTIENT, Quantity

INF = np.inf


def roundings(N: BandSystem, s: Quantity) -> int:
    """N2: the roundings from the scale that is written to t.

    Division by it has one, a product with 1 / s two. Where s is made from amax, t may be x (max / amax): s as
    amax (1 / max) errs by two from amax, the inverse by one, the product by one.
    """
    divided = DIVIDE_ROUNDINGS[N.claim.divide]
    if amax_of(s) is None or N.claim.quantize.apply == "divide":
        return divided
    quotient = QUOTIENT_ROUNDINGS[N.claim.divide]
    multiplied = max(2 * quotient + 1, quotient + 3)
    return multiplied if N.claim.quantize.apply == "multiply" else max(divided, multiplied)


def amax_of(s: Quantity) -> tuple[Quantity, float] | None:
    """The amax from which a scale is made, and the number to which it is brought; None for a scale that is given."""
    source = s.how[1] if s.how[:1] == ("written",) else s
    return (source.how[1], source.how[2]) if source.how[:1] == ("scaled",) else None


def divides_exactly(N: BandSystem, s: Quantity) -> Reals:
    """N4: the groups in which t is exact: the scale is known, a power of two, and no other number was rounded to it."""
    known = np.asarray(s.lo == s.hi, dtype=np.bool_)
    if N.claim.divide not in ("ieee", "reciprocal") or not any_of(known):
        return np.zeros(s.shape, dtype=np.bool_)
    number = np.where(known, np.asarray(s.lo, dtype=np.float64), 0.0)
    edge = 2.0**-F32.least
    whole = known & (np.frexp(number)[0] == 0.5) & (number >= 1 / edge) & (number <= edge)
    made = amax_of(s)
    is_power = N.claim.quantize.scale in ("power of two up", "exponent of amax") or _is_stored_as_power(N, s)
    if made is None or N.claim.quantize.apply == "divide" or is_power:
        return np.asarray(whole)
    amax, largest = made
    lo, hi = (np.asarray(end, dtype=np.float64) for end in N.E.round_ends(amax.lo, amax.hi, F64))
    return np.asarray(whole & (lo == hi) & (number * largest == lo))


def _is_stored_as_power(N: BandSystem, s: Quantity) -> bool:
    return N.formats.get(s.name, N.f).kind == "power"


def quantize(N: BandSystem, g: Quantity, s: Quantity, name: str, zero: Quantity | None = None) -> Quantity:
    """The numbers of a grid that a kernel may write for x / s, each end rounded by itself (N1).

    A claim may keep the quotient in a narrower format. `zero`: an integer that is added after rounding, as the zero
    point of an affine quantizer.
    """
    grid = grid_of(N.element_of(name), N.claim.quantize.symmetric and N.element_of(name).kind == "signed")
    ends = (np.asarray(s.lo > 0, dtype=np.bool_), np.asarray(s.hi < INF, dtype=np.bool_))
    usable = ends[0] & ends[1] & np.asarray(s.lo <= s.hi, dtype=np.bool_)
    lo, hi = _quotients(N, g, s, usable)
    if not all_of(usable):
        at = np.broadcast_to(value_of_block(usable, g.blocks, g.shape), g.shape)
        lo, hi = np.where(at, lo, 0.0), np.where(at, hi, 0.0)
    if (held := N.claim.narrow_format(QUOTIENT)) is not None:  # R9, at the quotient's own scale
        form = FORMATS[held]
        lo, hi = np.minimum(lo, form.round(lo)), np.maximum(hi, form.round(hi))
    zero_at = None if zero is None else spread_over(N, zero, g)
    if zero_at is not None:
        lo, hi = _add_zero(N, lo, hi, zero_at)
    low, high, open_ = round_ends(grid, lo, hi, N)
    shares = shares_of(grid, lo, hi) if N.claim.quantize.round == "stochastic" else None
    if not all_of(usable):
        low, high, lost = _without_scale(grid, g, s, usable, low, high)
        open_ = open_ | lost
    low, high, nan = _with_nans(N, grid, g, low, high, open_)
    made = N.value(N.E.convert(low), N.E.convert(high), nan, "quantized", g, s, shares)
    made.blocks, made.name = g.blocks, name
    return made


@dataclass(frozen=True)
class Shares:
    """Where quotients lie between two numbers of a grid: `below`, `above`, and the ends of their share of the distance.

    `is_known`: the set of a quotient lies between two neighbours.
    """

    below: Reals
    above: Reals
    lo: Reals
    hi: Reals
    is_known: Reals


def shares_of(grid: Grid, lo: Reals, hi: Reals) -> Shares:
    """The neighbours of each quotient, and how near it is to the upper one (N12)."""
    first = np.clip(np.searchsorted(grid.numbers, lo, side="right") - 1, 0, len(grid.numbers) - 2)
    below, above = grid.numbers[first], grid.numbers[first + 1]
    with np.errstate(all="ignore"):
        ends = (lo - below) / (above - below), (hi - below) / (above - below)
    return Shares(below, above, *ends, np.asarray((ends[0] >= 0) & (ends[1] <= 1)))


def spread_over(N: BandSystem, s: Quantity, g: Quantity) -> Quantity:
    """The value of its group at each element."""
    lo = value_of_block(np.broadcast_to(s.lo, s.shape), g.blocks, g.shape)
    hi = lo if s.lo is s.hi else value_of_block(np.broadcast_to(s.hi, s.shape), g.blocks, g.shape)
    made = N.value(
        lo, hi, value_of_block(np.broadcast_to(s.nan, s.shape), g.blocks, g.shape) if any_of(s.nan) else False
    )
    made.is_point = s.is_point
    return made


def _quotients(N: BandSystem, g: Quantity, s: Quantity, usable: Reals) -> Pair:
    """The set of t = x / s as float64 ends, N2 with its roundings, N4 without."""
    low, high = (np.broadcast_to(end, s.shape) for end in (s.lo, s.hi))
    if not all_of(usable):
        low, high = np.where(usable, low, 1.0), np.where(usable, high, 1.0)
    is_known = s.lo is s.hi or all_of(low == high)
    whole = divides_exactly(N, s) & usable
    k = roundings(N, s)
    with np.errstate(all="ignore"):
        if k <= 2 and is_known and not all_of(whole | ~usable):
            return _as_doubles(N, *_rounded_quotients(N, g, low, k))
        low = value_of_block(low, g.blocks, g.shape)
        high = low if is_known else value_of_block(high, g.blocks, g.shape)
        if is_known:
            lo = np.asarray(g.lo / low)
            hi = lo if g.lo is g.hi else np.asarray(g.hi / low)
        else:
            lo = g.lo / np.where(g.lo >= 0, high, low)
            hi = g.hi / np.where(g.hi >= 0, low, high)
        if all_of(whole | ~usable) and is_known:
            return _as_doubles(N, lo, hi)
        wide = N.widen(lo, hi, False, k, 4 * N.tiny)  # no grid shows what underflow costs
        below, above = _as_doubles(N, wide.lo, wide.hi)
        if any_of(whole):
            at = np.broadcast_to(value_of_block(whole, g.blocks, g.shape), g.shape)
            exact = _as_doubles(N, lo, hi)
            below, above = np.where(at, exact[0], below), np.where(at, exact[1], above)
    return below, above


def _rounded_quotients(N: BandSystem, g: Quantity, s: Reals, k: int) -> Pair:
    """N2 where the scale is known: x / s rounded once or not at all, or x (1 / s) with either factor so.

    An exact quotient stays exact, so that a tie stays a tie.
    """
    at = value_of_block(s, g.blocks, g.shape)
    lo = np.asarray(g.lo / at)
    hi = lo if g.lo is g.hi else np.asarray(g.hi / at)
    below, above = N.E.push_outward(lo, hi)
    if lo is hi:
        near = np.asarray(lo, dtype=np.float64)
        exact = (N.f.round(near) == near) & (
            near * np.asarray(at, dtype=np.float64) == np.asarray(g.lo, dtype=np.float64)
        )
        if N.f is F32 and any_of(exact):
            below, above = (np.where(exact, N.E.convert(near), end) for end in (below, above))
    below, above = N.E.hull(below, above, N.f)
    if k > 1:
        one = N.E.convert(np.asarray(1.0))
        inverse = N.E.hull(*N.E.push_outward(one / s, one / s), N.f)
        least, most = (value_of_block(end, g.blocks, g.shape) for end in inverse)
        product = (
            g.lo * np.where(np.asarray(g.lo >= 0, dtype=np.bool_), least, most),
            g.hi * np.where(np.asarray(g.hi >= 0, dtype=np.bool_), most, least),
        )
        product = N.E.hull(*N.E.push_outward(*product), N.f)
        below, above = np.minimum(below, product[0]), np.maximum(above, product[1])
    return flush(below, above, N.f.min_normal) if N.ftz else (below, above)


def _as_doubles(N: BandSystem, lo: Reals, hi: Reals) -> Pair:
    below, above = N.E.round_ends(lo, hi, F64)
    return np.asarray(below, dtype=np.float64), np.asarray(above, dtype=np.float64)


def _add_zero(N: BandSystem, lo: Reals, hi: Reals, zero: Quantity) -> Pair:
    """Round to whole numbers and add the zero point, or add it first: the sum is then rounded once more."""
    ways = N.claim.quantize.directions
    zeros = [np.asarray(end, dtype=np.float64) for end in (zero.lo, zero.hi)]
    ends = []
    for end, from_zero, way, sign in ((lo, zeros[0], ways[0], -1), (hi, zeros[1], ways[1], 1)):
        sum_ = end + from_zero
        sum_ = sum_ + sign * np.abs(sum_) * 2 * N.u
        tie = np.ceil(sum_ - 0.5) if sign < 0 else np.floor(sum_ + 0.5)  # of a tie the outer number
        other = tie if way in ("even", "away") else WHOLE[way](sum_)
        ends.append((np.minimum if sign < 0 else np.maximum)(WHOLE[way](end) + from_zero, other))
    return ends[0], ends[1]


def round_ends(grid: Grid, lo: Reals, hi: Reals, N: BandSystem) -> tuple[Reals, Reals, Reals]:
    """N1: the numbers to which the ends round, and where nothing is known: beyond the largest, unclaimed (N10)."""
    down, up = N.claim.quantize.directions
    first, last = grid.places(lo, down), grid.places(hi, up)
    low, high = grid.numbers[first], grid.numbers[last]
    nothing = np.zeros((), dtype=np.bool_)
    ends = np.array([lo.min(), hi.max()]) if hi.size else np.zeros(2)
    if not any_of(grid.is_beyond(ends, down) | grid.is_beyond(ends, up)):
        return low, high, nothing
    return _beyond(grid, lo, hi, N, low, high)


def _beyond(grid: Grid, lo: Reals, hi: Reals, N: BandSystem, low: Reals, high: Reals) -> tuple[Reals, Reals, Reals]:
    """N10: what becomes of numbers beyond the ends, as claimed."""
    down, up = N.claim.quantize.directions
    quantizing = N.claim.quantize
    some = grid.is_beyond(lo, down) | grid.is_beyond(hi, up)
    has_no_nan = grid.element.is_float and grid.element.nan is None
    is_ocp = quantizing.scale == "exponent of amax"  # N6: the largest elements lie beyond, rightly
    if quantizing.saturate == "finite" or has_no_nan or (quantizing.saturate is None and is_ocp):
        return low, high, np.zeros((), dtype=np.bool_)
    if quantizing.saturate == "wrap":
        below, above = (grid.round(end, way, "wrap") for end, way in ((lo, down), (hi, up)))
        same = below <= above
        return np.where(some & same, below, low), np.where(some & same, above, high), some & ~same
    if quantizing.saturate is None:
        N.note(Reason(Why.BEYOND_LARGEST), some)
        return low, high, some
    every = grid.is_beyond(lo, down) & grid.is_beyond(hi, up) & (np.sign(lo) == np.sign(hi))
    if grid.element.has_infinity:
        end = np.copysign(INF, hi)
        return np.where(every, end, low), np.where(some & (hi > 0), INF, high), some & ~every
    return np.where(every, INF, low), np.where(every, -INF, high), some & ~every


def _without_scale(
    grid: Grid, g: Quantity, s: Quantity, usable: Reals, low: Reals, high: Reals
) -> tuple[Reals, Reals, Reals]:
    """Where no scale is above 0: zeros stay 0 under a scale of 0 (N8), and any number is right for another x."""
    none = np.asarray((s.lo == 0) & (s.hi == 0), dtype=np.bool_)
    none_at, open_at = (
        np.broadcast_to(value_of_block(mask, g.blocks, g.shape), g.shape) for mask in (none, ~usable & ~none)
    )
    is_zero = np.asarray((g.lo == 0) & (g.hi == 0), dtype=np.bool_)
    low = np.where(none_at, np.where(is_zero, 0.0, grid.numbers[0]), low)
    high = np.where(none_at, np.where(is_zero, 0.0, grid.numbers[-1]), high)
    return low, high, np.asarray(open_at)


def _with_nans(
    N: BandSystem, grid: Grid, g: Quantity, low: Reals, high: Reals, open_: Reals
) -> tuple[Reals, Reals, Reals]:
    """N9: an element that is NaN has a code of NaN, where the claim says so and the type has one."""
    nan = np.asarray(open_)
    if any_of(g.nan):
        is_nan = np.broadcast_to(g.nan, low.shape)
        must = is_nan & ~open_
        if N.claim.quantize.nan is None or grid.element.nan is None:
            open_, must = open_ | is_nan, must & False
        low, high = empty_where(low, high, must)
        nan = open_ | must
    if any_of(open_):
        low, high = np.where(open_, -INF, low), np.where(open_, INF, high)
    return low, high, nan


def store_narrow(N: BandSystem, a: Quantity, form: Element) -> Quantity:
    """R5 for a narrow type: the ends rounded to its grid, and what lies beyond as claimed (N1, N10)."""
    grid = grid_of(form)
    lo, hi = _as_doubles(N, a.lo, a.hi)
    empty = np.asarray(lo > hi)
    finite = np.isfinite(lo) & np.isfinite(hi)
    low, high, open_ = round_ends(grid, np.where(finite, lo, 0.0), np.where(finite, hi, 0.0), N)
    open_ = (open_ | ~finite) & ~empty
    low, high = np.where(open_, -INF, low), np.where(open_, INF, high)
    low, high = empty_where(low, high, empty)
    nan: Any = a.nan | open_
    return N.value(N.E.convert(low), N.E.convert(high), nan, "stored", a, form)

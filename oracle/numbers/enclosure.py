"""The interval, for each element, in which every correct answer lies, and the comparison of an answer with it.

float64 decides where its own error cannot matter; balls decide the rest, and certify every failure. Knows no op.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Tier

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
"""Numbers as a kernel stores them: float32, or another float type if the op takes any."""
Mask = NDArray[np.bool_]
Index = tuple[int, ...]

FLT_MAX = float(np.finfo(np.float32).max)

PRECISIONS = (128, 256, 1024)
"""The precisions of balls in bits, in the order in which they are tried."""

ROUND_64 = 2.0**-44
"""docs/numerics.md#float64-tier: more than the relative error of an enclosure that float64 computes."""


@dataclass(frozen=True)
class Bounds:
    """A certified enclosure of one element; `want` is the exact answer."""

    lo: arb
    want: arb
    hi: arb


@dataclass(frozen=True)
class Clash:
    """Elements that cannot all be right, although each could be by itself; `is_certain()` asks balls.

    `index`: the element that is furthest from the value on which most agree; `wrong`: all that disagree with it.
    """

    index: Index
    wrong: Mask
    message: str
    is_certain: Callable[[], bool]


@dataclass(frozen=True)
class Enclosure:
    """[lo, hi] for every element of one output; where want is NaN, the answer must be NaN.

    Where only a bound is NaN, the claim allows so many roundings that float64 overflowed: it bounds nothing.
    `slack_lo`, `slack_hi`: the float64 errors of lo and hi. `exact`: the same bounds as balls.
    `joint`: the test that compares several elements of an answer. `bits`: all numbers are bit patterns.
    `may_be_nan`: where NaN is as right as a number in [lo, hi]. `holds`: says which elements are right if the right
    answers are not an interval, such as places of equal elements; lo and hi are then the least and the greatest right
    answer, and no element is doubtful. `is_wrong`: asks balls whether an element is not among the right ones; None if
    comparisons of known numbers decided that. `within`: the ends of another bound, which needs no balls
    (docs/numerics.md#depth, docs/numerics.md#exponentials-that-are-shared), and which one. `loosest`: the ends of what
    any arrangement may give, where the op's file gives the sets, and of shares along an axis how far from one their sum
    may be. `anything`: where an arrangement may give NaN and any number.
    """

    want: Doubles
    lo: Doubles
    hi: Doubles
    judged: Mask
    slack_lo: Doubles
    slack_hi: Doubles
    exact: Callable[[Index, int], Bounds]
    joint: Callable[[Doubles], Iterator[Clash]] | None = None
    reasons: tuple[Reason, ...] = ()
    bits: bool = False
    may_be_nan: Mask | None = None
    holds: Callable[[Doubles], Mask] | None = None
    is_wrong: Callable[[float, Index], bool] | None = None
    within: tuple[Doubles, Doubles] | None = None
    within_by: Tier = "slopes"
    loosest: tuple[Doubles, Doubles] | tuple[Doubles, Doubles, tuple[int, Doubles] | None] | None = None
    anything: Mask | None = None


@dataclass(frozen=True)
class Comparison:
    """How an answer lies in its enclosure. `broken`: outside by more than float64 errs; `doubtful`: balls decide."""

    broken: Mask
    doubtful: Mask
    ratio: Doubles


def compare(got: Doubles, enclosure: Enclosure) -> Comparison:
    """Compare an answer with its enclosure in float64: the elements outside, and each error over its bound."""
    if enclosure.holds is not None:
        outside = ~enclosure.holds(got)
        nothing = np.zeros(outside.shape, dtype=np.bool_)
        return Comparison(outside & enclosure.judged, nothing, np.where(outside, np.inf, 0.0))
    must_be_nan = np.isnan(enclosure.want)
    lo, slack_lo = _open_overflow(enclosure.lo, enclosure.slack_lo, -np.inf)
    hi, slack_hi = _open_overflow(enclosure.hi, enclosure.slack_hi, np.inf)
    is_sharp = not (_is_anywhere(slack_lo) or _is_anywhere(slack_hi))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inside = (got >= lo) & (got <= hi)
        if any_of(must_be_nan):
            inside = np.where(must_be_nan, np.isnan(got), inside)
        clearly_out, clearly_in = ~inside, inside
        if not is_sharp:
            clearly_out = np.where(must_be_nan, ~inside, ~((got >= lo - slack_lo) & (got <= hi + slack_hi)))
            clearly_in = np.where(must_be_nan, inside, (got >= lo + slack_lo) & (got <= hi - slack_hi))
        ratio = _ratio(got, enclosure.want, lo, hi)
        ratio = _choose(inside & ~(ratio <= 1), 1.0, ratio)
        finite = np.isfinite(enclosure.want) & np.isfinite(got)
        if not all_of(finite):
            ratio = np.where(finite, ratio, np.where(inside, 0.0, np.inf))
    if enclosure.may_be_nan is not None and any_of(enclosure.may_be_nan):
        either = enclosure.may_be_nan & np.isnan(got)
        clearly_out, clearly_in, ratio = clearly_out & ~either, clearly_in | either, np.where(either, 0.0, ratio)
    doubtful = ~clearly_out & ~clearly_in
    return Comparison(clearly_out & enclosure.judged, doubtful & enclosure.judged, ratio)


def _ratio(got: Doubles, want: Doubles, lo: Doubles, hi: Doubles) -> Doubles:
    """Each error over the bound on its side."""
    off = got - want
    to_zero = lo == 0
    if any_of(to_zero):  # where 0 is allowed there is no bound below, and the bound above gives the scale
        ratio = np.abs(off) / np.where((off >= 0) | to_zero, hi - want, want - lo)
    else:  # on the other side the ratio is negative, even if the bound there is 0
        ratio, below = hi - want, want - lo
        np.divide(off, ratio, out=ratio)
        np.divide(off, np.negative(below, out=below), out=below)
        np.maximum(ratio, below, out=ratio)
    return _choose(off == 0, 0.0, ratio)


def _is_anywhere(slack: Doubles) -> bool:
    """Whether any element is not 0; of most, all are one number in memory."""
    return any_of(slack if any(slack.strides) else slack.reshape(-1)[:1])


def _choose(mask: Mask, value: float, other: Doubles) -> Doubles:
    """`value` where the mask is true, `other` elsewhere."""
    return np.where(mask, value, other) if any_of(mask) else other


def _open_overflow(bound: Doubles, slack: Doubles, end: float) -> tuple[Doubles, Doubles]:
    """Open a bound that overflowed, and drop its slack: it bounds nothing."""
    over = np.isnan(bound) | (bound == end)
    if not any_of(over):
        return bound, slack
    return np.where(over, end, bound), np.where(over, 0.0, slack)


def is_beyond_others(got: float, index: Index, enclosure: Enclosure) -> bool:
    """Whether the other bound excludes a number, which float64 and its lemma certify."""
    within = enclosure.within
    return within is not None and bool(np.isfinite(got)) and not within[0][index] <= got <= within[1][index]


def is_outside(got: float, index: Index, enclosure: Enclosure) -> bool:
    """Whether balls or another bound certify that the element is outside; if none decides, it counts as inside."""
    if enclosure.bits or enclosure.holds is not None:
        return enclosure.is_wrong is None or enclosure.is_wrong(got, index)
    if not np.isfinite(enclosure.want[index]):
        return bool(compare_one(got, enclosure.lo[index], enclosure.hi[index]))
    if not np.isfinite(got):
        return True
    if is_beyond_others(got, index, enclosure):
        return True
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            bounds = enclosure.exact(index, bits)
            value = arb(got)
            if value > bounds.hi or value < bounds.lo:
                return True
            if bounds.lo <= value <= bounds.hi:
                return False
    return False


def compare_one(got: float, lo: float, hi: float) -> bool:
    """Whether a value is outside of bounds that are NaN or infinite."""
    return not np.isnan(got) if np.isnan(lo) else not lo <= got <= hi


def tree_sum(x: Doubles) -> Doubles:
    """The float64 sum along the last axis, with an error of ceil(log2 n) 2^-53 relative to the sum of |x|."""
    n = x.shape[-1]
    if n == 0:
        return np.zeros(x.shape[:-1])
    while n > 1:
        half = (n + 1) // 2
        if half + half == n:
            x, n = x[..., :half] + x[..., half:], half
            continue
        joined = x[..., :half].copy()
        joined[..., : n - half] += x[..., half:]
        x, n = joined, half
    return np.asarray(x[..., 0])

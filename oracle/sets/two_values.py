"""Elements that are drawn from two values each, such as kept or dropped, up or down. docs/numerics.md#draws"""

from dataclasses import replace

import numpy as np

from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Mask
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.evidence import Chances
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked, Categories
from kfuzz.oracle.sets.sampling import open_chances, refuse_balls
from kfuzz.oracle.systems.rules.quantized import Shares

LEAST_RANDOM_BITS = 8
"""A quantizer that rounds at random draws at least so many bits for each element."""


def draw_between(
    first: Doubles, second: tuple[Doubles, Doubles], chance: tuple[Doubles, Doubles], judged: Mask,
    reasons: tuple[Reason, ...], is_random: bool = True,
) -> AnswerSet:  # fmt: skip
    """Each element is `first`, or lies in `second`, with these bounds of the probability of the second.

    Where `first` lies in `second`, an answer does not show which one was drawn.
    """
    lo, hi = second
    low, high = (np.broadcast_to(end, first.shape) for end in chance)
    shows = judged & ~((first >= lo) & (first <= hi))
    may_first, may_second = (low < 1) | ~shows, (high > 0) | ~shows

    def holds(got: Doubles) -> Mask:
        is_first, is_second = got == first, (got >= lo) & (got <= hi)
        return np.asarray((is_first & may_first) | (is_second & may_second))

    def categorize(got: Doubles) -> Categories:
        is_second = (got >= lo) & (got <= hi)
        return np.where(shows & (is_second | (got == first)), is_second, -1).astype(np.int64)

    none = np.zeros(first.shape)
    least, most = np.minimum(first, lo), np.maximum(first, hi)
    want = np.where(low >= 0.5, (lo + hi) / 2, first)
    enclosure = Enclosure(want, least, most, judged, none, none, refuse_balls, None, reasons, holds=holds)

    def chances() -> Chances:
        pairs = (np.stack([1 - high, low], axis=-1), np.stack([1 - low, high], axis=-1))
        return Chances(*(pair.reshape(-1, 2) for pair in pairs))

    return AnswerSet(enclosure, open_chances(~shows.reshape(-1), chances) if is_random else None, categorize)


def draw_dropout(asked: Asked, x: Doubles, chance: tuple[Doubles, Doubles], is_random: bool = True) -> AnswerSet:
    """Each element is 0, or x / (1 - p), with these bounds of the probability that it is kept."""
    p, form = asked.scalars["p"], asked.stored.get("y", F32)
    if not 0 <= p < 1:
        raise OracleError(f"p={p:g}: expected a number from 0 to below 1")
    judged = np.isfinite(x)
    kept = np.where(judged, x, 0.0) / (1 - p)
    off = 4.5 * F32.u * np.abs(kept) + 2 * asked.accuracy.tiny
    lo, hi = form.round(kept - off), form.round(kept + off)
    is_flushed = asked.accuracy.ftz & (np.abs(kept) <= 2 * form.min_normal)
    ends = np.where(is_flushed, np.minimum(lo, 0.0), lo), np.where(is_flushed, np.maximum(hi, 0.0), hi)
    return draw_between(np.zeros(x.shape), ends, chance, judged, not_finite(judged), is_random)


def not_finite(judged: Mask) -> tuple[Reason, ...]:
    """The reason for elements that are not judged."""
    return () if judged.all() else (Reason(Why.NOT_FINITE, int((~judged).sum())),)


def draw_neighbours(enclosure: Enclosure, shares: Shares, shape: tuple[int, ...]) -> AnswerSet:
    """Elements that are rounded at random, by at least LEAST_RANDOM_BITS, to one of two neighbours of a grid."""
    below, above, lo, hi, is_known = (
        np.broadcast_to(part, shape).reshape(-1)
        for part in (shares.below, shares.above, shares.lo, shares.hi, shares.is_known)
    )
    is_known = is_known & enclosure.judged.reshape(-1)

    def chances() -> Chances:
        unsure = 2.0**-LEAST_RANDOM_BITS * (hi > 0) * (lo < 1)
        low, high = np.maximum(lo - unsure, 0.0), np.minimum(hi + unsure, 1.0)
        return Chances(np.stack([1 - high, low], axis=-1), np.stack([1 - low, high], axis=-1))

    def categorize(got: Doubles) -> Categories:
        flat = got.reshape(-1)
        is_one = is_known & ((flat == below) | (flat == above))
        return np.where(is_one, flat == above, -1).astype(np.int64).reshape(got.shape)

    def holds(got: Doubles) -> Mask:
        return np.asarray(((got >= enclosure.lo) & (got <= enclosure.hi)) | ~np.isfinite(enclosure.want))

    return AnswerSet(replace(enclosure, holds=enclosure.holds or holds), open_chances(~is_known, chances), categorize)

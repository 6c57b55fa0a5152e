"""Tokens that are drawn by weights: which may come at all, and with what probability.

A weight is known within its rounding, so that a token at the edge of a selection may belong to it or not
(docs/numerics.md#draws). Knows weights; knows no op.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.accuracy.rounding import ACCUMULATOR_FORMATS, FAR, Accuracy
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.enclosure import Bounds, Doubles, Enclosure, Index, Mask
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.evidence import Chances
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked, Categories
from kfuzz.oracle.sets.special import special_rows

BY_SUM, BY_RACE = "by cumulated sum", "by race"
FORMS = (BY_SUM,)
SELDOM = {BY_RACE: "log"}
"""Two ways to draw: the token at which the cumulated sum passes a uniform number; or the least of exponential numbers
over the weights, which is the greatest of logits plus Gumbel numbers and needs a logarithm."""
FAST_LOG = 2.0**-21.4
"""The absolute error of `__logf` from 0.5 to 2, as documented (docs/numerics.md#chances-of-tokens)."""


@dataclass(frozen=True)
class Weights:
    """The weights of tokens relative to the largest of a row, as a kernel may have them.

    `growth`: the logarithm of the factor by which a sum of them may be off.
    """

    lo: Doubles
    hi: Doubles
    growth: float


@dataclass(frozen=True)
class Kept:
    """A selection of tokens.

    `may`, `must`: those that some right kernel keeps, and those that each one keeps. `least`, `most`: the ends of the
    sum of the weights that are kept, of each row.
    """

    may: Mask
    must: Mask
    least: Doubles
    most: Doubles


Select = Callable[[Weights], Kept]


def find_tokens(asked: Asked, logits: Doubles, u: Doubles) -> dict[str, AnswerSet]:
    """The token of each row at which the cumulated weights pass u of their sum."""
    w = weigh(asked, np.where(special_rows(logits, asked.special).plain[:, None], logits, 0.0))
    sums_lo, sums_hi = np.cumsum(w.lo, axis=1), np.cumsum(w.hi, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        least = sums_lo / (sums_lo + sums_hi[:, -1:] - sums_hi) - 2 * w.growth
        most = sums_hi / (sums_hi + sums_lo[:, -1:] - sums_lo) + 2 * w.growth
    before = np.concatenate([np.zeros((len(u), 1)), least[:, :-1]], axis=1)
    may = (w.hi > 0) & ~(most < u[:, None]) & ~(before > u[:, None])
    return {"token": name_tokens(asked, logits, may, None)}


def draw_tokens(asked: Asked, logits: Doubles, select: Select) -> dict[str, AnswerSet]:
    """One token of each row, drawn by the weights of those that are selected."""
    weights = weigh(asked, np.where(special_rows(logits, asked.special).plain[:, None], logits, 0.0))
    kept = select(weights)
    return {"token": name_tokens(asked, logits, kept.may, lambda: chances_of(asked, weights, kept))}


def name_tokens(asked: Asked, logits: Doubles, may: Mask, chances: Callable[[], Chances] | None) -> AnswerSet:
    """Any of these tokens of each row."""
    rows, cols = special_rows(logits, asked.special), logits.shape[1]
    beyond = rows.plain & (np.abs(logits.max(axis=1)) > F32.max * asked.scalars.get("temperature", 1.0))
    judged, reasons = rows.judged & rows.plain & ~beyond, rows.reasons
    for mask, why in ((rows.empty, Why.NOTHING_TO_DRAW), (beyond, Why.SCALED_OVERFLOWS)):
        if any_of(mask):
            reasons += (Reason(why, int(mask.sum())),)
    names = np.arange(cols, dtype=np.float64)
    lo = np.where(may, names, np.inf).min(axis=1)
    hi = np.where(may, names, -1.0).max(axis=1)
    want = np.argmax(np.where(may, np.nan_to_num(logits), -np.inf), axis=1).astype(np.float64)
    none = np.zeros(len(want))

    def holds(got: Doubles) -> Mask:
        place = categorize(got, cols)
        return np.asarray((place >= 0) & may[np.arange(len(got)), place])

    enclosure = Enclosure(want, lo, hi, judged, none, none, refuse_balls, None, reasons, holds=holds)
    return AnswerSet(
        enclosure, chances and open_chances(~judged, chances), lambda got: np.where(judged, categorize(got, cols), -1)
    )


def open_chances(mask: Mask, chances: Callable[[], Chances]) -> Callable[[], Chances]:
    """The same bounds, but any probability for the quantities of a mask, which no answer shows."""

    def opened() -> Chances:
        given = chances()
        return Chances(np.where(mask[:, None], 0.0, given.lo), np.where(mask[:, None], 1.0, given.hi))

    return opened


def refuse_balls(index: Index, bits: int) -> Bounds:
    raise AssertionError(f"draws at {index} are never in doubt")


def categorize(got: Doubles, count: int) -> Categories:
    """The token that each answer names; -1 if there is none of this name."""
    inside = (got >= 0) & (got < count) & (got == np.floor(got))
    return np.where(inside, got, -1).astype(np.int64)


def weigh(asked: Asked, logits: Doubles) -> Weights:
    """exp(x / T) over the largest of the row, within the roundings of a kernel (docs/numerics.md#weights-of-tokens)."""
    accuracy, temperature = asked.accuracy, asked.scalars.get("temperature", 1.0)
    if not temperature > 0:
        raise OracleError(f"temperature={temperature:g}: expected a number above 0; at 0 the answer is argmax")
    t = logits / temperature
    top = t.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        d = top - t
        size = np.where(np.isfinite(t), np.abs(t), 0.0) + np.abs(top)
    near = np.minimum(d, FAR)
    kappa = accuracy.exp.kappa
    error = accuracy.ubar * ((1 + kappa) * (6 * size + near) + accuracy.exp.a0 + 24)
    lost, is_there = accuracy.eta0 + 2 * accuracy.tiny, t > -np.inf
    lo = np.where(is_there, np.maximum(np.exp(-d - error) - lost, 0.0), 0.0)
    hi = np.where(is_there, np.exp(np.minimum(error - d, FAR)) + lost, 0.0)
    return Weights(lo, hi, growth_of(accuracy, logits.shape[1]))


def growth_of(accuracy: Accuracy, cols: int) -> float:
    """The logarithm of the factor by which a sum of so many weights may be off."""
    held = (accuracy.accumulate, *accuracy.accumulators.values())
    unit = max(F32.u, *(ACCUMULATOR_FORMATS.get(one, F32).u for one in held))
    return unit * (cols * accuracy.roundings_per_addition + 10)


def keep_all(w: Weights) -> Kept:
    return Kept(w.hi > 0, w.lo > 0, w.lo.sum(axis=1), w.hi.sum(axis=1))


def keep_top_k(w: Weights, k: int) -> Kept:
    """The k greatest: a token may be kept unless k others are certainly greater."""
    above, reach = counts_above(w)
    may, must = (above < k) & (w.hi > 0), (reach <= k) & (w.lo > 0)
    greatest = -np.partition(-w.lo, min(k, w.lo.shape[1]) - 1, axis=1)[:, :k]
    return Kept(may, must, greatest.sum(axis=1), np.where(may, w.hi, 0.0).sum(axis=1))


def keep_top_p(w: Weights, p: float) -> Kept:
    """The fewest whose probabilities reach p: a token is kept if those before it do not reach p."""
    above, reach = counts_above(w)
    least, most = w.lo.sum(axis=1, keepdims=True), w.hi.sum(axis=1, keepdims=True)
    slack = 2 * w.growth + F32.u
    before = np.take_along_axis(sums_of_greatest(w.lo), above, axis=1) / most
    up_to = (np.take_along_axis(sums_of_greatest(w.hi), reach, axis=1) - w.hi) / np.maximum(least, F32.tiny)
    may = (before < p + slack) & (w.hi > 0)
    must = (up_to < p - slack) & (w.lo > 0)
    lightest = np.maximum((p - slack) * least[:, 0], np.where(must, w.lo, 0.0).sum(axis=1))
    return Kept(may, must, lightest, np.where(may, w.hi, 0.0).sum(axis=1))


def keep_top_k_top_p(w: Weights, k: Categories, p: Doubles) -> Kept:
    """Of each row the k greatest, and of these the fewest whose share reaches p; all of them if p is 1."""
    above, reach = counts_above(w)
    slack = 2 * w.growth + F32.u
    sums, most_sums = sums_of_greatest(w.lo), sums_of_greatest(w.hi)
    least, most = (np.take_along_axis(one, k[:, None], axis=1) for one in (sums, most_sums))
    share = np.where(p < 1, p, np.inf)[:, None]
    with np.errstate(invalid="ignore"):
        before = np.take_along_axis(sums, above, axis=1) / most
        up_to = (np.take_along_axis(most_sums, reach, axis=1) - w.hi) / np.maximum(least, F32.tiny)
        may = (above < k[:, None]) & (before < share + slack) & (w.hi > 0)
        must = (reach <= k[:, None]) & (up_to < share - slack) & (w.lo > 0)
        lightest = np.where(np.isfinite(share), (share - slack) * least, least)[:, 0]
    lightest = np.maximum(lightest, np.where(must, w.lo, 0.0).sum(axis=1))
    return Kept(may, must, lightest, np.where(may, w.hi, 0.0).sum(axis=1))


def keep_min_p(w: Weights, share: float) -> Kept:
    """Those with at least a share of the greatest probability."""
    slack = 4 * F32.u
    greatest, largest = w.lo.max(axis=1, keepdims=True), w.hi.max(axis=1, keepdims=True)
    may = (w.hi >= share * greatest * (1 - slack)) & (w.hi > 0)
    must = (w.lo >= share * largest * (1 + slack)) & (w.lo > 0)
    return Kept(may, must, np.where(must, w.lo, 0.0).sum(axis=1), np.where(may, w.hi, 0.0).sum(axis=1))


def counts_above(w: Weights) -> tuple[Categories, Categories]:
    """For each token: how many are certainly greater; and how many may be no less, the token among them."""
    cols = w.lo.shape[1]
    above, reach = np.empty(w.lo.shape, np.int64), np.empty(w.lo.shape, np.int64)
    for row, (lo, hi) in enumerate(zip(w.lo, w.hi, strict=True)):
        above[row] = cols - np.searchsorted(np.sort(lo), hi, side="right")
        reach[row] = cols - np.searchsorted(np.sort(hi), lo, side="left")
    return above, reach


def sums_of_greatest(x: Doubles) -> Doubles:
    """The sums of the 0, 1, 2, ... greatest of each row."""
    return np.concatenate([np.zeros((len(x), 1)), np.cumsum(-np.sort(-x, axis=1), axis=1)], axis=1)


def chances_of(asked: Asked, w: Weights, kept: Kept) -> Chances:
    """The bounds of each token's probability, by every way to draw that the claim leaves open."""
    least, most = kept.least[:, None], kept.most[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        sum_with = np.where(kept.must, least, np.maximum(least, w.lo))
        hi = np.where(kept.may, np.minimum(np.where(sum_with > 0, w.hi / sum_with, 1.0), 1.0), 0.0)
        lo = np.where(kept.must, w.lo / most, 0.0)
    resolution = 2.0 ** -asked.scalars["random_bits"]
    forms = (*FORMS, *SELDOM) if asked.accuracy.form == "any" else (asked.accuracy.form or BY_SUM,)
    ends = [
        (by_sum if form == BY_SUM else by_race)(
            lo, hi, resolution, w.growth, float(kept.may.sum(axis=1).max(initial=1))
        )
        for form in forms
    ]
    lows, highs = zip(*ends, strict=True)
    least_chance = np.maximum(np.minimum.reduce(lows), 0.0)
    return Chances(
        np.where(kept.must, least_chance, 0.0), np.where(kept.may, np.minimum(np.maximum.reduce(highs), 1.0), 0.0)
    )


def by_sum(lo: Doubles, hi: Doubles, resolution: float, growth: float, tokens: float) -> tuple[Doubles, Doubles]:
    """The cumulated sums at both ends of a token are off by `growth`, and the uniform number by its resolution."""
    off = 2 * (growth + resolution)
    return lo - off, hi + off


def by_race(lo: Doubles, hi: Doubles, resolution: float, growth: float, tokens: float) -> tuple[Doubles, Doubles]:
    """Exponential numbers are off by a factor, apart from uniform numbers within s of 0 or 1 (any s will do)."""
    error = resolution + FAST_LOG
    s = np.clip(np.sqrt(2 * error * hi / tokens), 4 * error, 0.25)
    factor = (1 + 2 * error / s) / (1 - 2 * error / s)
    return lo / factor - 2 * tokens * s, hi * factor + 2 * tokens * s

"""The enclosure of a sum of exponentials, sum_j s_j exp(m_j - max m): what softmax, its reductions and merges share.

The formulas are derived in the comments; q, r, D count the exps, rescales and additions on a term's way.
Knows no op; its rows hold no NaN, no +inf and at least one finite maximum.
"""

from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from oracle.enclosure import Bounds, Doubles, tree_sum
from oracle.rounding import FAR, Accuracy, counts


@dataclass(frozen=True)
class Sums:
    """Per row: the maximum, the exact sum S, and [lo, hi] for every correct one, all relative to exp(max)."""

    top: Doubles
    total: Doubles
    lo: Doubles
    hi: Doubles


@dataclass(frozen=True)
class BallSums:
    """The same of one row, as balls."""

    top: float
    total: arb
    lo: arb
    hi: arb


def slope(accuracy: Accuracy, one: float = 1.0) -> float:
    """How fast the log of a term errs with its distance d, in ubar: 1 for rounding the exponent, kappa for exp.

    With an exact shift the rounded exponent is the definition: nothing for three-pass, 2 for the telescoping
    exponents of an online sum, which are then rounded twice.
    """
    if accuracy.exact_shift:
        one = 0.0 if accuracy.rescales == 0 else 2.0
    return one + accuracy.exp.kappa


def distances(top: Doubles, m: Doubles, accuracy: Accuracy) -> Doubles:
    """max - m_j, as defined: exact, or (exact shift) as the one float32 subtraction that it is."""
    if accuracy.exact_shift:
        with np.errstate(over="ignore"):  # beyond FLT_MAX the distance is inf, as on the device
            return np.asarray((top - m).astype(np.float32), dtype=np.float64)
    return np.asarray(top - m)


def underflow(accuracy: Accuracy, exps: Doubles | float, rescales: Doubles | float, s: Doubles, n: int) -> Doubles:
    """What the exps and products of a row may lose by underflow, relative to exp(max): numerics calls it tau S.

    Each exp call errs by eta0 times the weight s_j that it scales; each product by `tiny`. A shift g above the
    maximum makes every term smaller by e^-g before it underflows. Twice, for the second order.
    """
    weight = np.maximum(s, 1.0)
    lost = ((exps + rescales) * weight).sum(axis=-1) * accuracy.eta0 + n * (accuracy.tiny if accuracy.ftz else 0.0)
    return np.asarray(2.0 * lost * np.exp(accuracy.shift_slack))


def is_one_at_top(accuracy: Accuracy, first_exp: bool) -> bool:
    """Whether a term at the maximum is exactly 1: one exp(0), never rescaled. A lazy rescale may touch it again."""
    return first_exp and accuracy.rescales == 0 and accuracy.shift_is_top


def sums(m: Doubles, s: Doubles, accuracy: Accuracy, first_exp: bool) -> Sums:
    """The enclosure of every row's sum in float64 (relative error ROUND_64).

    The log of term j errs by (K_j + c (d_j + g)) ubar, K_j its counted factors: so the sum lies between
    sum w_j e^{-...} and sum w_j e^{+...}. With d_j <= 104, e^{c d} <= 1 + c (1 + 104 c) d: one more sum gives both.
    """
    n = m.shape[-1]
    top = m.max(axis=-1)
    d = np.minimum(distances(top[..., None], m, accuracy), FAR)
    w = s * np.exp(-d)
    roundings = counts(accuracy, n, m, first_exp)
    c = slope(accuracy) * accuracy.ubar
    shifted = slope(accuracy) * accuracy.shift_slack
    K = (roundings.growth(accuracy) + shifted) * accuracy.ubar
    tau = underflow(accuracy, roundings.exps, roundings.rescales, s, n)
    total = tree_sum(w)
    top_is_one = is_one_at_top(accuracy, first_exp)
    K_top = roundings.growth(accuracy, at_top=True) * accuracy.ubar if top_is_one else K
    if isinstance(K, float):
        at_top = tree_sum(np.where(d == 0, w, 0.0)) if top_is_one else np.zeros(total.shape)
        moment = tree_sum(w * d)
        hi = np.exp(K) * (total - at_top + c * (1 + FAR * c) * moment) + np.exp(K_top) * at_top
        lo = np.exp(-K) * (total - at_top - c * moment) + np.exp(-K_top) * at_top
    else:
        each = np.where(d == 0, K_top, K)
        hi = tree_sum(w * np.exp(each) * (1 + c * (1 + FAR * c) * d))
        lo = tree_sum(w * np.exp(-each) * (1 - c * d))
    return Sums(top, total, np.maximum(lo - tau, 0.0), hi + tau)


def ball_sums(m: NDArray[np.float64], s: Doubles, accuracy: Accuracy, first_exp: bool, bits: int) -> BallSums:
    """The same enclosure of one row by balls. Equal terms are summed once, which keeps long rows affordable."""
    n = len(m)
    top = float(m.max())
    roundings = counts(accuracy, n, m, first_exp)
    growth = np.broadcast_to(np.asarray(roundings.growth(accuracy), dtype=np.float64), (n,))
    if is_one_at_top(accuracy, first_exp):
        growth = np.where(m == top, roundings.growth(accuracy, at_top=True), growth)
    exps, rescales = (
        np.broadcast_to(np.asarray(v, dtype=np.float64), (n,)) for v in (roundings.exps, roundings.rescales)
    )
    terms, times = np.unique(np.stack([m, s, growth, exps + rescales]), axis=1, return_counts=True)
    with ctx.workprec(bits):
        c, g, ubar = arb(slope(accuracy)), arb(accuracy.shift_slack), arb(accuracy.ubar)
        total, lo, hi, lost = arb(0), arb(0), arb(0), arb(0)
        for (mj, sj, kj, calls), count in zip(terms.T.tolist(), times.tolist(), strict=True):
            lost += arb(count) * arb(calls) * max(arb(sj), arb(1))
            if mj == -np.inf:
                continue
            d = ball_distance(top, mj, accuracy)
            w = arb(count) * arb(sj) * (-d).exp()
            bend = ((arb(kj) + c * (d.min(arb(FAR)) + g)) * ubar).exp()
            total, lo, hi = total + w, lo + w / bend, hi + w * bend
        flushed = arb(n) * arb(accuracy.tiny) if accuracy.ftz else arb(0)
        tau = 2 * (lost * arb(accuracy.eta0) + flushed) * g.exp()
        return BallSums(top, total, (lo - tau).max(arb(0)), hi + tau)


def ball_distance(top: float, m: float, accuracy: Accuracy) -> arb:
    """max - m_j as a ball; see `distances`."""
    if accuracy.exact_shift:
        return arb(float(distances(np.asarray(top), np.asarray(m), accuracy)))
    return arb(top) - arb(m)


def ball_bounds(sums_: BallSums) -> Bounds:
    """The enclosure of the sum itself."""
    return Bounds(sums_.lo, sums_.total, sums_.hi)

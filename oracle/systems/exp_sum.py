"""The enclosure of a sum of exponentials, sum_j s_j exp(m_j - max m), which softmax, its reductions and merges share.

docs/numerics.md derives the formulas; q, r and D count the exps, rescales and additions on a term's way.
Knows no op. A row has neither NaN nor +inf, and has at least one finite maximum.
"""

from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.counts import count_roundings
from kfuzz.oracle.accuracy.rounding import FAR, Accuracy
from kfuzz.oracle.numbers.enclosure import Doubles, Mask, tree_sum
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems import base_two


@dataclass(frozen=True)
class Sums:
    """Of each row: the maximum, the exact sum S, and [lo, hi] of the correct sums, relative to exp(max).

    `is_exact`: nothing was rounded and nothing lost, as where e^0 is the only term.
    """

    top: Doubles
    total: Doubles
    lo: Doubles
    hi: Doubles
    is_exact: Mask


@dataclass(frozen=True)
class BallSums:
    """The same of one row, as balls."""

    top: float
    total: arb
    lo: arb
    hi: arb


def slope(accuracy: Accuracy, exact: Mask | bool = False) -> Doubles:
    """The error in the log of a term per unit of its exponents, in ubar: 1 for their rounding, kappa for exp.

    `exact`: the rows whose exponents are exact, and so not rounded. With an exact shift the rounded exponent is the
    definition: it costs 0 in three passes, and 2 in an online sum, whose telescoping exponents are rounded twice.
    docs/numerics.md#telescope, docs/numerics.md#exact-shift
    """
    rounded = np.where(exact, 0.0, 1.0)
    if accuracy.exp.base_two:
        rounded = np.full_like(rounded, base_two.steepness(accuracy))
    if accuracy.exact_shift:
        rounded = np.full_like(rounded, 0.0 if accuracy.rescales == 0 else 2.0)
    return np.asarray(rounded + accuracy.exp.kappa)


def exponents_are_exact(m: Doubles, accuracy: Accuracy) -> Mask:
    """The rows in which no exponent is rounded: none is computed, or all differences of terms are float32 numbers.

    The latter holds if all terms are multiples of some q = 2^k and lie within 2^24 q of one another.
    docs/numerics.md#exact-exponents
    """
    if accuracy.shift == "zero":
        return np.full(m.shape[:-1], not accuracy.exp.base_two)
    if not accuracy.subtracts_terms:
        return np.zeros(m.shape[:-1], dtype=np.bool_)
    nothing = m == -np.inf
    has_nothing = any_of(nothing)
    lowest = (np.where(nothing, np.inf, m) if has_nothing else m).min(axis=-1)
    with np.errstate(over="ignore"):
        _, power = np.frexp(m.max(axis=-1) - lowest)
    quanta = np.ldexp(m, (24 - power)[..., None])
    is_whole = np.rint(quanta) == quanta
    return np.asarray((is_whole | nothing if has_nothing else is_whole).all(axis=-1))


def distances_from_maximum(top: Doubles, m: Doubles, accuracy: Accuracy) -> Doubles:
    """max - m_j: exact or, with an exact shift, as one float32 subtraction."""
    if accuracy.exact_shift:
        with np.errstate(over="ignore"):  # beyond FLT_MAX the distance is inf, as on the device
            return np.asarray((top - m).astype(np.float32), dtype=np.float64)
    return np.asarray(top - m)


def lift(top: Doubles, accuracy: Accuracy, rescaled: bool = False) -> Doubles:
    """How much more an underflow counts than it would at the maximum, at most (docs/numerics.md#lift).

    It is e^(shift - max); with twice the exponent if a rescale scales down terms that lay above their shift.
    """
    g = (accuracy.shift_slack + base_two.stray(top, accuracy)) * (2 if rescaled else 1)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-top if accuracy.shift == "zero" else g))


def underflow(
    accuracy: Accuracy, exps: Doubles | float, rescales: Doubles | float, s: Doubles, top: Doubles
) -> Doubles:
    """The most that exps and products of a row lose by underflow, relative to exp(max): tau of docs/numerics.md#path.

    Each exp call errs by eta0 times the weight s_j that it scales, and each product by `tiny`. A shift g above the
    maximum makes every term smaller by e^-g before it underflows. The factor 2 is for terms further than 104 away.
    """
    weight, n = np.maximum(s, 1.0), s.shape[-1]
    lost = ((exps + rescales) * weight).sum(axis=-1) * accuracy.eta0 + n * accuracy.flush
    return np.asarray(2.0 * lost * lift(top, accuracy, rescaled=accuracy.rescales != 0))


def is_one_at_top(accuracy: Accuracy, first_exp: bool) -> bool:
    """Whether a term at the maximum is exactly 1: one exp(0), never rescaled. A lazy kernel may rescale it."""
    return first_exp and accuracy.rescales == 0 and accuracy.shift_is_exact


def sort_terms(m: Doubles, s: Doubles, accuracy: Accuracy, first_exp: bool) -> tuple[Doubles, Doubles]:
    """Sort the terms if their counts depend on their order; a sum itself has none."""
    if accuracy.shift != "running max" or accuracy.order is not None:
        return m, s
    if first_exp:  # and so every s is 1
        return np.sort(m, axis=-1), s
    order = np.argsort(m, axis=-1)
    return np.take_along_axis(m, order, axis=-1), np.take_along_axis(s, order, axis=-1)


def enclose_sums(m: Doubles, s: Doubles, accuracy: Accuracy, first_exp: bool) -> Sums:
    """Enclose every row's sum in float64, with a relative error of ROUND_64.

    The log of term j errs by (K_j + c (r_j + g)) ubar, where K_j are its counted factors, r_j is the reach of its
    exponents and g their detour; so the sum lies between sum w_j e^{-...} and sum w_j e^{+...}. With r_j <= 104,
    e^{c r} <= 1 + c (1 + 104 c) r: one more sum gives both. docs/numerics.md#path
    """
    n = m.shape[-1]
    top = m.max(axis=-1)
    m, s = sort_terms(m, s, accuracy, first_exp)
    d = np.minimum(distances_from_maximum(top[..., None], m, accuracy), FAR)
    w = np.negative(d)
    np.exp(w, out=w)
    w = w if first_exp else s * w  # the terms of inputs have the weight 1
    reach = np.minimum(np.abs(m), FAR) if accuracy.shift == "zero" else d
    roundings = count_roundings(accuracy, n, m, first_exp)
    steep = slope(accuracy, exponents_are_exact(m, accuracy))
    c, shifted = steep * accuracy.ubar, slope(accuracy) * accuracy.detour
    K = np.asarray((roundings.growth(accuracy) + shifted) * accuracy.ubar)
    if accuracy.exp.base_two:
        K = K + base_two.offset(top[..., None], m, roundings.rescales, accuracy) * accuracy.ubar
    most = (K if K.ndim == 0 else K.max(axis=-1)) + c * FAR
    tau = underflow(accuracy, roundings.exps, roundings.rescales, s, top) * np.exp(most)
    total = tree_sum(w)
    top_is_one = is_one_at_top(accuracy, first_exp)
    K_top = np.asarray(roundings.growth(accuracy, at_top=True) * accuracy.ubar) if top_is_one else K
    if K.ndim == 0:
        at_top = tree_sum(np.where(d == 0, w, 0.0)) if top_is_one else np.zeros(total.shape)
        moment = tree_sum(w * reach)
        hi = np.exp(K) * (total - at_top + c * (1 + FAR * c) * moment) + np.exp(K_top) * at_top
        lo = np.exp(-K) * (total - at_top - c * moment) + np.exp(-K_top) * at_top
    else:
        each, c = np.where(d == 0, K_top, K), c[..., None]
        hi = tree_sum(w * np.exp(each) * (1 + c * (1 + FAR * c) * reach))
        lo = tree_sum(w * np.exp(-each) * (1 - c * reach))
    return Sums(top, total, np.maximum(lo - tau, 0.0), hi + tau, (lo == hi) & (tau == 0))


def enclose_sum_by_balls(
    m: NDArray[np.float64], s: Doubles, accuracy: Accuracy, first_exp: bool, bits: int
) -> BallSums:
    """Enclose one row's sum by balls. Equal terms are summed once, which keeps long rows affordable."""
    n = len(m)
    top = float(m.max())
    m, s = sort_terms(m, s, accuracy, first_exp)
    roundings = count_roundings(accuracy, n, m, first_exp)
    growth = np.broadcast_to(np.asarray(roundings.growth(accuracy), dtype=np.float64), (n,))
    if is_one_at_top(accuracy, first_exp):
        growth = np.where(m == top, roundings.growth(accuracy, at_top=True), growth)
    if accuracy.exp.base_two:
        growth = growth + base_two.offset(np.asarray(top), m, roundings.rescales, accuracy)
    exps, rescales = (
        np.broadcast_to(np.asarray(v, dtype=np.float64), (n,)) for v in (roundings.exps, roundings.rescales)
    )
    terms, times = np.unique(np.stack([m, s, growth, exps + rescales]), axis=1, return_counts=True)
    is_exact = bool(exponents_are_exact(m[None, :], accuracy)[0])
    with ctx.workprec(bits):
        c, g, ubar = arb(float(slope(accuracy, is_exact))), arb(accuracy.detour), arb(accuracy.ubar)
        total, lo, hi, lost = arb(0), arb(0), arb(0), arb(0)
        for (mj, sj, kj, calls), count in zip(terms.T.tolist(), times.tolist(), strict=True):
            lost += arb(count) * arb(calls) * max(arb(sj), arb(1))
            if mj == -np.inf:
                continue
            d = ball_distance(top, mj, accuracy)
            w = arb(count) * arb(sj) * (-d).exp()
            reach = arb(abs(mj)) if accuracy.shift == "zero" else d
            bend = ((arb(kj) + c * (reach.min(arb(FAR)) + g)) * ubar).exp()
            total, lo, hi = total + w, lo + w / bend, hi + w * bend
        flushed = arb(n) * arb(accuracy.flush)
        most = ((arb(float(growth.max())) + c * (arb(FAR) + g)) * ubar).exp()
        tau = 2 * (lost * arb(accuracy.eta0) + flushed) * ball_lift(top, accuracy, accuracy.rescales != 0) * most
        return BallSums(top, total, (lo - tau).max(arb(0)), hi + tau)


def ball_lift(top: float, accuracy: Accuracy, rescaled: bool = False) -> arb:
    """The ball version of `lift`."""
    if accuracy.shift == "zero":
        return arb(-top).exp()
    return (arb(accuracy.shift_slack + float(base_two.stray(np.asarray(top), accuracy))) * (2 if rescaled else 1)).exp()


def ball_distance(top: float, m: float, accuracy: Accuracy) -> arb:
    """The ball version of `distances`."""
    if accuracy.exact_shift:
        return arb(float(distances_from_maximum(np.asarray(top), np.asarray(m), accuracy)))
    return arb(top) - arb(m)

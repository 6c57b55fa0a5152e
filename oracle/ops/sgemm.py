"""sgemm: C = A B, IEEE throughout: 0 * inf is NaN, infinities of both signs are NaN, one sign wins.

+-inf and NaN are claimed by default; overflow is not judged where the order decides it.
"""

from collections.abc import Mapping

import numpy as np
from flint import arb
from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import matrix as diagnosis
from kfuzz.oracle.enclosure import ROUND_64, Bounds, Doubles, Enclosure, Index
from kfuzz.oracle.linear_sum import MODEST, ball_sum, cast, lost_on_the_way, relative, steps
from kfuzz.oracle.number import MIN_NORMAL, Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.rounding import Accuracy, counts
from kfuzz.oracle.verdict import Special
from numpy.typing import NDArray

INPUTS = {"a": ("m", "k"), "b": ("k", "n")}
OUTPUTS = {"c": ("m", "n")}
VECTOR = False
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system."""
    return {"c": algorithms.sgemm(N, inputs["a"], inputs["b"])}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """|c^ - c| <= sum_k |a_k b_k| ((1 + ubar)^(1 + D_k) - 1) + K tiny; products of floats are exact in float64.

    docs/numerics.md#products
    """
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    terms = a.shape[1]
    want = _ieee(a, b)
    fa, fb = np.abs(np.where(np.isfinite(a), a, 0.0)), np.abs(np.where(np.isfinite(b), b, 0.0))
    size = fa @ fb
    roundings = counts(accuracy, terms)
    grown = np.broadcast_to(np.asarray(relative(accuracy, roundings, products=True)), (terms,))
    radius = (fa * grown) @ fb + lost_on_the_way(_lost(fa, fb, accuracy), grown)
    radius = radius + (np.abs(np.where(np.isfinite(want), want, 0.0)) + radius) * cast(accuracy)
    overflow = ~np.isnan(want) & (size * (1 + ROUND_64) + radius >= MODEST)
    reasons: tuple[str, ...] = (
        (f"{int(overflow.sum())} sums whose overflow the order decides",) if overflow.any() else ()
    )
    judged = ~overflow
    if accuracy.ftz:  # a flushed denormal times inf is NaN, an unflushed one is inf
        low_a, low_b = _is_denormal(a).astype(float), _is_denormal(b).astype(float)
        either = (low_a @ np.isinf(b).astype(float) + np.isinf(a).astype(float) @ low_b) > 0
        judged &= ~either
        reasons += (f"{int(either.sum())} sums with a denormal times inf, under flushing",) if either.any() else ()
    slack = np.where(np.isfinite(want), 2.0**-52 * (terms + 8) * size + ROUND_64 * radius, 0.0)

    def exact(index: Index, bits: int) -> Bounds:
        row, column = a[index[0]], b[:, index[1]]
        products = [arb(float(p)) * arb(float(q)) for p, q in zip(row, column, strict=True)]
        adds = np.broadcast_to(np.asarray(roundings.adds, dtype=np.float64), (terms,)).tolist()
        lost = float(_lost(np.abs(row)[None, :], np.abs(column)[:, None], accuracy)[0, 0])
        return ball_sum(products, adds, arb(lost), accuracy, products=True)

    return {"c": Enclosure(want, want - radius, want + radius, judged, slack, slack, exact, None, reasons)}


def _ieee(a: Doubles, b: Doubles) -> Doubles:
    """A B with IEEE's special values, which a matrix library that reorders or blocks may not keep."""
    ma, mb = np.isfinite(a), np.isfinite(b)
    product = np.where(ma, a, 0.0) @ np.where(mb, b, 0.0)
    if ma.all() and mb.all():
        return product
    nan = (np.isnan(a).astype(float) @ np.ones(b.shape)) + (np.ones(a.shape) @ np.isnan(b).astype(float))
    nan += np.isinf(a).astype(float) @ (b == 0).astype(float) + (a == 0).astype(float) @ np.isinf(b).astype(float)
    inf_a, inf_b = np.where(np.isinf(a), np.sign(a), 0.0), np.where(np.isinf(b), np.sign(b), 0.0)
    sign_a, sign_b = np.nan_to_num(np.sign(a)), np.nan_to_num(np.sign(b))
    signed = inf_a @ sign_b + (sign_a * (inf_a == 0)) @ inf_b  # every infinite product once, with its sign
    number = np.abs(inf_a) @ np.abs(sign_b) + (np.abs(sign_a) * (inf_a == 0)) @ np.abs(inf_b)
    infinite = np.where(np.abs(signed) == number, np.copysign(np.inf, signed), np.nan)
    return np.where(nan > 0, np.nan, np.where(number > 0, infinite, product))


def _is_denormal(x: Doubles) -> NDArray[np.bool_]:
    return np.asarray((x != 0) & (np.abs(x) < MIN_NORMAL))


def _lost(a: Doubles, b: Doubles, accuracy: Accuracy) -> Doubles:
    """What underflow may take: `tiny` a product; flushed, also partial sums, and products with a denormal factor."""
    terms = a.shape[1]
    if not accuracy.ftz:
        return np.full((a.shape[0], b.shape[1]), terms * (accuracy.tiny + steps(accuracy) * MIN_NORMAL))
    low_a, low_b = np.where(a < MIN_NORMAL, a, 0.0), np.where(b < MIN_NORMAL, b, 0.0)
    return np.asarray(low_a @ b + a @ low_b + (2 + steps(accuracy)) * terms * MIN_NORMAL)

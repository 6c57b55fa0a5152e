"""Softmax by exp2(x log2(e) - m log2(e)), fused or not, in passes or online: sound under its model only."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from kfuzz.oracle.accuracy.rounding import EXP2_SCALED, EXPF, Accuracy, ExpModel
from kfuzz.oracle.proof.hard_rows import Row
from tests.oracle.selfcheck import algorithms
from tests.oracle.selfcheck.algorithms import SEQUENTIAL, TREE, Parts
from tests.oracle.selfcheck.number import Float32, Vector
from tests.oracle.selfcheck.soundness import Tally, Variant, check

LOG2_E = np.asarray(1.44269502, dtype=np.float32)
KNOWN = 2.0**24 - 1


def exp_scaled(N: Float32, x: Vector, m: Vector, fused: bool) -> Vector:
    """exp(x - m), as exp2(fma(x, log2e, -(m * log2e))) or without the fused product."""
    product = N.mul(m, LOG2_E)
    return N.exp2(N.fma(x, LOG2_E, -product) if fused else N.sub(N.mul(x, LOG2_E), product))


def exp_of_difference(N: Float32, x: Vector, m: Vector, fused: bool) -> Vector:
    """exp(x - m), as exp2((x - m) * log2e): how FlashAttention rescales."""
    return N.exp2(N.mul(N.sub(x, m), LOG2_E))


def three_pass(N: Float32, x: Row, fused: bool) -> Vector:
    """Max, then sum, then quotient."""
    e = exp_scaled(N, x, algorithms.row_max(N, x)[:, None], fused)
    return N.div(e, algorithms.total(N, e, TREE)[:, None])


def online(N: Float32, x: Row, fused: bool, of_difference: bool) -> Vector:
    """A tree of states (max, sum), every one rescaled to the greater maximum."""
    rescale = exp_of_difference if of_difference else exp_scaled

    def join(a: Parts, b: Parts) -> Parts:
        m = N.maximum(a[0], b[0])
        shift = np.where(np.isneginf(m), np.float32(0), m)
        left, right = (N.mul(s, rescale(N, top, shift, fused)) for top, s in (a, b))
        return m, N.add(left, right)

    own = np.where(np.isneginf(x), np.float32(0), x)
    first = np.where(np.isneginf(x), np.float32(0), exp_scaled(N, x, own, fused))
    m, s = algorithms.fold(TREE, (x, first), join)
    return N.div(exp_scaled(N, x, m[:, None], fused), s[:, None])


def unshifted(N: Float32, x: Row) -> Vector:
    """exp2(x * log2e), without a shift."""
    e = N.exp2(N.mul(x, LOG2_E))
    return N.div(e, algorithms.total(N, e, SEQUENTIAL)[:, None])


PASSES = Accuracy(rescales=0, divide="ieee", exp=EXP2_SCALED)
ONLINE = Accuracy(divide="ieee", exp=EXP2_SCALED)
VARIANTS = (
    Variant("exp2 scaled, three-pass, fused", partial(three_pass, fused=True), PASSES, by_height=True, most=KNOWN),
    Variant("  same, products apart", partial(three_pass, fused=False), PASSES, by_height=True, most=KNOWN),
    Variant(
        "exp2 scaled, online, fused",
        partial(online, fused=True, of_difference=False), ONLINE, by_height=True, most=KNOWN
    ),
    Variant(
        "  same, rescaled by differences",
        partial(online, fused=True, of_difference=True), ONLINE, by_height=True, most=KNOWN,
    ),
    Variant(
        "  same, products apart", partial(online, fused=False, of_difference=True), ONLINE, by_height=True, most=KNOWN
    ),
    Variant("exp2 scaled, nothing subtracted", unshifted, replace(PASSES, shift="zero"), most=70.0),
)  # fmt: skip


def wrong_bounds() -> Iterator[Tally]:
    """Claims of a smaller error for such an exponent: they must be violated, or the model is not needed."""
    rng = np.random.default_rng(6)
    near, far = (
        (size + rng.standard_normal((20, 257)) * spread).astype(np.float32) for size, spread in ((1e3, 1), (1e7, 8))
    )
    lost = Variant("base 2, as if x - m were rounded once", VARIANTS[1].run, replace(PASSES, exp=EXPF), by_height=True)
    once = Variant("base 2, as if it were never rescaled", VARIANTS[2].run, PASSES, by_height=True)
    for variant, x in ((lost, near), (once, far)):
        tally = Tally(variant.name)
        check(variant, x, "rounded", ExpModel(1, 0), False, tally)
        yield tally

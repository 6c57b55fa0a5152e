"""The enclosure of a plain sum of terms of either sign: what row_sum and sgemm share.

IEEE special values: a NaN, or infinities of both signs, make NaN; infinities of one sign win; where finite terms may
overflow on the way, the order decides, and nothing is judged. Knows no op. Derived in docs/numerics.md#linear-sums.
"""

import numpy as np
from flint import arb
from kfuzz.oracle.enclosure import FLT_MAX, Bounds, Doubles
from kfuzz.oracle.rounding import Accuracy, Counts, compensated

MODEST = FLT_MAX * (1 - 2.0**-20)
"""Where the terms' absolute values sum to less, no partial sum overflows: the rest is wider than its rounding.

docs/numerics.md#overflow
"""


def relative(accuracy: Accuracy, roundings: Counts, products: bool) -> float | Doubles:
    """What a term's own size may be off by on its way into the sum, and the product that it may be."""
    ubar, adds = accuracy.ubar, np.asarray(roundings.adds, dtype=np.float64)
    if accuracy.accumulate == "f64":
        grown = np.expm1(adds * 2.0**-53 * (1 + 2.0**-20) + products * ubar)
    elif accuracy.accumulate == "compensated":
        grown = np.expm1((compensated(adds) + products) * ubar)
    else:
        grown = np.expm1((adds + products) * ubar)
    return float(grown) if grown.ndim == 0 else grown


def ball_relative(accuracy: Accuracy, adds: float, products: bool) -> arb:
    """The same for one term, as a ball."""
    ubar = arb(accuracy.ubar)
    if accuracy.accumulate == "f64":
        return (arb(adds) * arb(2.0**-53) * arb(1 + 2.0**-20) + products * ubar).expm1()
    if accuracy.accumulate == "compensated":
        return ((compensated(arb(adds)) + products) * ubar).expm1()
    return ((arb(adds) + products) * ubar).expm1()


def steps(accuracy: Accuracy) -> int:
    """How many numbers of an addition may be flushed, beside its denormal operands where all are flushed.

    Its result; of a compensated one the six of an exact addition, and two that keep what is over. An atomic one also
    flushes what it adds, a partial sum perhaps.
    """
    if not accuracy.ftz:
        return 2 if accuracy.atomics == "global" else 0
    return 8 if accuracy.accumulate == "compensated" else 1


def lost_on_the_way(lost: Doubles, grown: float | Doubles) -> Doubles:
    """What underflow takes is then rounded with the rest, at most as often as any term."""
    return np.where(lost > 0, lost * (1 + np.max(grown, initial=0.0)), 0.0)


def cast(accuracy: Accuracy) -> float:
    """The relative error of bringing a double sum back to float32."""
    return accuracy.ubar if accuracy.accumulate == "f64" else 0.0


def ball_sum(terms: list[arb], adds: list[float], lost: arb, accuracy: Accuracy, products: bool) -> Bounds:
    """The enclosure of one sum by balls, given what it may lose by underflow."""
    total, radius = arb(0), arb(0)
    if lost > 0:
        radius = lost * (1 + ball_relative(accuracy, max(adds, default=0.0), products))
    for term, count in zip(terms, adds, strict=True):
        total += term
        radius += abs(term) * ball_relative(accuracy, count, products)
    radius = radius + (abs(total) + radius) * arb(cast(accuracy))
    return Bounds(total - radius, total, total + radius)

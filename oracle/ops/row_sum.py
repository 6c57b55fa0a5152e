"""row_sum: y = sum_j x_j, row by row, by IEEE's rules for infinities.

-inf stays -inf; NaN and +inf are unclaimed by default; overflow is not judged where the order decides it.
"""

from collections.abc import Mapping

import numpy as np
from flint import arb
from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.enclosure import ROUND_64, Bounds, Doubles, Enclosure, Index, tree_sum
from kfuzz.oracle.linear_sum import MODEST, ball_sum, cast, lost_on_the_way, relative, steps
from kfuzz.oracle.number import MIN_NORMAL, Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.rounding import Accuracy, counts
from kfuzz.oracle.special import special_rows
from kfuzz.oracle.verdict import Special

INPUTS = {"x": ("rows", "cols")}
OUTPUTS = {"y": ("rows",)}
VECTOR = True
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system."""
    return {"y": algorithms.row_sum(N, inputs["x"])}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """|s^ - s| <= sum_j |x_j| ((1 + ubar)^D_j - 1), and what flushed denormals lose (docs/numerics.md#linear-sums)."""
    x = inputs["x"].astype(np.float64)
    n = x.shape[1]
    rows = special_rows(x, special)
    finite = np.where(np.isfinite(x), x, 0.0)
    with np.errstate(invalid="ignore"):
        want = np.where(np.isfinite(x).all(axis=1), tree_sum(finite), x.sum(axis=1))
    if special.pos_inf == "row":
        want = np.where(rows.has_pos_inf, np.nan, want)
    roundings = counts(accuracy, n)
    size = tree_sum(np.abs(finite))
    grown = relative(accuracy, roundings, products=False)
    radius = tree_sum(np.abs(finite) * grown) + lost_on_the_way(_lost(x, accuracy), grown)
    radius = radius + (np.abs(np.where(np.isfinite(want), want, 0.0)) + radius) * cast(accuracy)
    overflow = ~np.isnan(x).any(axis=1) & (size * (1 + ROUND_64) + radius >= MODEST)
    reasons = rows.reasons
    if overflow.any():
        reasons += (f"{int(overflow.sum())} sums whose overflow the order decides",)
    slack = np.where(np.isfinite(want), 2 * ROUND_64 * size, 0.0) * (n > 1)

    def exact(index: Index, bits: int) -> Bounds:
        terms = [arb(float(v)) for v in x[index]]
        adds = np.broadcast_to(np.asarray(roundings.adds, dtype=np.float64), (n,)).tolist()
        return ball_sum(terms, adds, arb(float(_lost(x[index], accuracy))), accuracy, products=False)

    return {
        "y": Enclosure(want, want - radius, want + radius, rows.judged & ~overflow, slack, slack, exact, None, reasons)
    }


def _lost(x: Doubles, accuracy: Accuracy) -> Doubles:
    """Flushed inputs and flushed results of additions lose at most the least normal number each."""
    flushed = ((x != 0) & (np.abs(x) < MIN_NORMAL)).sum(axis=-1) if accuracy.ftz else np.zeros(x.shape[:-1])
    return np.asarray((flushed + steps(accuracy) * x.shape[-1]) * MIN_NORMAL)

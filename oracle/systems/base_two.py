"""Exponents in base 2: exp2(x log2(e) - m log2(e)), as FlashAttention computes them.

Both products are rounded before they are subtracted, so the exponent errs with the sizes of x and m instead of x - m.
docs/numerics.md#base-2 derives this. Knows no op.
"""

import numpy as np

from kfuzz.oracle.accuracy.rounding import FAR, Accuracy, U
from kfuzz.oracle.numbers.enclosure import Doubles, Mask
from kfuzz.oracle.numbers.verdict import Reason, Why

LOG2_E = 0.225
"""The relative error of log2(e) as a float32, in u: 1.44269502 is 1.34e-8 too small."""

KNOWN = 2.0**24
"""Beyond this size neighbouring floats are more than 1 apart, and the exp of two such products errs by a factor e."""


def is_shifted(accuracy: Accuracy) -> bool:
    """Whether the exponent is a difference of two products, and not one product alone."""
    return accuracy.exp.base_two and accuracy.shift != "zero"


def steepness(accuracy: Accuracy) -> float:
    """The relative error of an exponent: one rounding, or two after a difference of maxima, and that of log2(e)."""
    once = accuracy.rescales == 0 or accuracy.shift == "zero"
    return (1.0 if once else 2.0) + LOG2_E


def stray(top: Doubles, accuracy: Accuracy) -> Doubles:
    """How far the shift that the rounded product m log2(e) represents may be from m itself."""
    top = np.asarray(top)
    return (np.abs(top) + accuracy.shift_slack) * U if is_shifted(accuracy) else np.zeros(top.shape)


def product_rounding(top: Doubles, m: Doubles, accuracy: Accuracy) -> Doubles:
    """The rounding of x log2(e), in u; beyond distance 104 it counts as much as there."""
    if not is_shifted(accuracy):
        return np.zeros(np.broadcast(top, m).shape)
    return np.minimum(np.abs(m), np.abs(top) + FAR)


def offset(top: Doubles, m: Doubles, rescales: Doubles | float, accuracy: Accuracy) -> Doubles:
    """The additional error of a term on its way into a sum, in ubar.

    It comes from the term's own product and, for each rescale, from the products of two maxima, which need not be the
    products that were subtracted before.
    """
    size = product_rounding(top, m, accuracy)
    largest = np.maximum(size, np.abs(top)) + accuracy.shift_slack
    strayed = 3 * (steepness(accuracy) + accuracy.exp.kappa) * stray(top, accuracy)
    return np.asarray(size + 2 * rescales * largest * is_shifted(accuracy) + strayed)


def is_beyond(top: Doubles, m: Doubles, accuracy: Accuracy) -> Mask:
    """The rows in which the exponent of a maximum, or of a possible running maximum, is not known to within 1."""
    if not is_shifted(accuracy):
        return np.zeros(top.shape, dtype=np.bool_)
    finite = np.where(np.isfinite(m), np.abs(m), 0.0).max(axis=-1, initial=0.0)
    return np.asarray((np.abs(top) if accuracy.rescales == 0 else finite) > KNOWN)


def reasons(beyond: Mask) -> tuple[Reason, ...]:
    """The reason why these rows are not judged; empty if there are no such rows."""
    return (Reason(Why.BASE_TWO, int(beyond.sum())),) if beyond.any() else ()

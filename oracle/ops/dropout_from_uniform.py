"""dropout_from_uniform: y is x / (1 - p) where a given uniform number u is below 1 - p, else 0.

The form says which elements are kept: those with `u < 1 - p`, or with `u >= p`. Where u is within rounding of that
edge, either is right. NaN and infinities are not judged: a mask that is multiplied makes NaN of them, and one that
selects makes 0.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.two_values import draw_dropout
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]", "u": "uniform[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SCALARS = {"p": 0.5}
FORMS = ("u < 1 - p", "u >= p")
NEEDS_FORM = True


def formula(N: Exact, x: Quantity, u: Quantity, p: Quantity) -> Quantity:
    is_kept = u.x < (1 - p).x if N.form == FORMS[0] else u.x >= p.x
    return N.where(is_kept, x / (1 - p), 0.0)


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """An element is kept or dropped as u says; where u is within two roundings of the edge, either is right."""
    u, p = asked.inputs["u"], asked.scalars["p"]
    edge = 1 - p if asked.accuracy.form == FORMS[0] else p
    is_below = u < edge + 2 * F32.u, u < edge - 2 * F32.u
    may_keep, must_keep = is_below if asked.accuracy.form == FORMS[0] else (~is_below[1], ~is_below[0])
    chance = must_keep.astype(np.float64), may_keep.astype(np.float64)
    return {"y": draw_dropout(asked, asked.inputs["x"], chance, is_random=False)}

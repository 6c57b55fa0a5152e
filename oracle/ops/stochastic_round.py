"""stochastic_round: y is x rounded at random to one of its two neighbours, the nearer one being the likelier.

The answer's type is narrower than that of x. The neighbour further from 0 comes with the probability (|x| - |nearer to
0|) / distance, within 2^-random_bits. Below the least normal number no probability is tested. NaN, infinities, and
numbers beyond the largest are not judged.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.two_values import draw_between, not_finite
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SCALARS = {"random_bits": 16.0}


def formula(N: Exact, x: Quantity, random_bits: Quantity) -> Quantity:
    return N.value(x.x)


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """Each element may be either neighbour of x; x itself, if the type has it."""
    x, form = asked.inputs["x"], asked.stored.get("y", F32)
    judged = np.abs(x) <= form.max
    x = np.where(judged, x, 0.0)
    near = form.truncate(x)
    step = form.last_place(np.where(x == 0, 1.0, x))
    far = np.where(x == near, near, near + np.copysign(step, x))
    share = np.abs(x - near) / step
    is_small = np.abs(x) < form.min_normal
    unsure = 2.0 ** -asked.scalars["random_bits"] * (share > 0)
    low = np.where(is_small, 0.0, np.maximum(share - unsure, 0.0))
    high = np.where(is_small, 1.0, np.minimum(share + unsure, 1.0))
    is_flushed = is_small & asked.accuracy.ftz
    ends = np.where(is_flushed, np.minimum(far, 0.0), far), np.where(is_flushed, np.maximum(far, 0.0), far)
    return {"y": draw_between(near, ends, (low, high), judged, not_finite(judged))}

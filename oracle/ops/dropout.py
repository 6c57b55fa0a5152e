"""dropout: y is 0 with probability p, else x / (1 - p); each element is drawn by itself.

`random_bits`: of the uniform numbers that a kernel draws with. NaN and infinities are not judged: a mask that is
multiplied makes NaN of them, and one that selects makes 0.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.two_values import draw_dropout
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SCALARS = {"p": 0.5, "random_bits": 24.0}


def formula(N: Exact, x: Quantity, p: Quantity, random_bits: Quantity) -> Quantity:
    return x / (1 - p)


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """Each element may be 0, or x / (1 - p) within four roundings and its own."""
    p = asked.scalars["p"]
    unsure = (2.0 ** -asked.scalars["random_bits"] + F32.u) * (p > 0)
    chance = np.array(max(1 - p - unsure, 0.0)), np.array(min(1 - p + unsure, 1.0))
    return {"y": draw_dropout(asked, asked.inputs["x"], chance)}

"""max_sum: m = max x, s = sum_j exp(x_j - m), row by row.

A row of nothing but -inf gives m = -inf and any sum. NaN and +inf are unclaimed by default.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.enclosure import Enclosure
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.states import enclose_states
from kfuzz.oracle.verdict import Special

INPUTS = {"x": ("rows", "cols")}
OUTPUTS = {"m": ("rows",), "s": ("rows",)}
VECTOR = True
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system."""
    m, s = algorithms.max_sum(N, inputs["x"])
    return {"m": m, "s": s}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """The maximum is exact; the sum as `exp_sum` derives it, every term one exp."""
    x = inputs["x"].astype(np.float64)
    m, s = enclose_states(x, np.ones(x.shape), accuracy, special, first_exp=True)
    return {"m": m, "s": s}

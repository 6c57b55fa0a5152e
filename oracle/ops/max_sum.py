"""max_sum: m = max x, s = sum_j exp(x_j - m), row by row.

A row that is all -inf gives m = -inf and any sum. NaN and +inf are unclaimed by default.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.max_and_sum import enclose_states
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float32[rows, cols]"}
OUTPUTS = {"m": "float32[rows]", "s": "float32[rows]"}
IGNORES_NAN = True
diagnose = diagnosis.diagnose


def formula(N: System, x: Quantity) -> dict[str, Quantity]:
    m = N.max(x)
    return {"m": m, "s": N.sum(N.exp(x - m), "sum")}


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """The maximum is exact; the sum has the bound of a sum of exponentials, with one exp per term."""
    x = inputs["x"].astype(np.float64)
    m, s = enclose_states(x, np.ones(x.shape), accuracy.for_sum("sum"), special, first_exp=True)
    return {"m": m, "s": s}

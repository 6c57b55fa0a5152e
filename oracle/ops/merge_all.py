"""merge_all: joins n (max, sum) states into one: m = max m_j, s = sum_j s_j exp(m_j - m).

A state whose max is -inf is empty, with any sum. If all states are empty, m = -inf with any sum.
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

INPUTS = {"m": "float32[n]", "s": "float32[n]"}
OUTPUTS = {"m": "float32[1]", "s": "float32[1]"}
IGNORES_NAN = True
diagnose = diagnosis.diagnose


def formula(N: System, m: Quantity, s: Quantity) -> dict[str, Quantity]:
    top = N.max(m)
    weights = N.where(m.x == -N.inf, 0.0, s * N.exp(m - top))
    return {"m": top, "s": N.sum(weights, "sum")}


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """All states form one row; the sum of an empty state does not count."""
    m = inputs["m"].astype(np.float64)[None, :]
    s = np.where(m == -np.inf, 0.0, inputs["s"].astype(np.float64)[None, :])
    top, total = enclose_states(m, s, accuracy.for_sum("sum"), special, first_exp=False)
    return {"m": top, "s": total}

"""merge_all: n (max, sum) states joined into one: m = max m_j, s = sum_j s_j exp(m_j - m).

A state whose max is -inf is empty, with any sum. All empty: m = -inf and any sum.
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

INPUTS = {"m": ("n",), "s": ("n",)}
OUTPUTS = {"m": ("1",), "s": ("1",)}
VECTOR = False
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system."""
    m, s = algorithms.merge_all(N, inputs["m"][None, :], inputs["s"][None, :])
    return {"m": m, "s": s}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """One row of states; the sum of an empty state does not count."""
    m = inputs["m"].astype(np.float64)[None, :]
    s = np.where(m == -np.inf, 0.0, inputs["s"].astype(np.float64)[None, :])
    top, total = enclose_states(m, s, accuracy, special, first_exp=False)
    return {"m": top, "s": total}

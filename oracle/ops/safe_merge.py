"""safe_merge: joins two (max, sum) states, elementwise: m = max(m1, m2), s = s1 exp(m1 - m) + s2 exp(m2 - m).

A state whose max is -inf is empty, with any sum, and the other state is the answer. Two empty states give m = -inf
and any sum.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.max_and_sum import enclose_states
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"m1": "float32[n]", "s1": "float32[n]", "m2": "float32[n]", "s2": "float32[n]"}
OUTPUTS = {"m": "float32[n]", "s": "float32[n]"}
IGNORES_NAN = True
diagnose = diagnosis.diagnose


def formula(N: System, m1: Quantity, s1: Quantity, m2: Quantity, s2: Quantity) -> dict[str, Quantity]:
    m = N.maximum(m1, m2)
    first, second = (N.where(a.x == -N.inf, 0.0, s * N.exp(a - m)) for a, s in ((m1, s1), (m2, s2)))
    return {"m": m, "s": first + second}


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """Every element is a row of two states; `adds` defaults to 1, the one addition of a merge."""
    m = np.stack([inputs["m1"], inputs["m2"]], axis=-1).astype(np.float64)
    s = np.stack([inputs["s1"], inputs["s2"]], axis=-1).astype(np.float64)
    s = np.where(m == -np.inf, 0.0, s)
    once = replace(accuracy, adds=1 if accuracy.adds is None else accuracy.adds)
    top, total = enclose_states(m, s, once, special, first_exp=False)
    return {"m": top, "s": total}

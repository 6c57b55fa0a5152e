"""safe_merge: two (max, sum) states joined, elementwise: m = max(m1, m2), s = s1 exp(m1 - m) + s2 exp(m2 - m).

A state whose max is -inf is empty, with any sum, and the other state is the answer. Two empty states: m = -inf
and any sum.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.enclosure import Enclosure
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.states import enclose_states
from kfuzz.oracle.verdict import Special

INPUTS = {"m1": ("n",), "s1": ("n",), "m2": ("n",), "s2": ("n",)}
OUTPUTS = {"m": ("n",), "s": ("n",)}
VECTOR = False
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system."""
    m, s = algorithms.safe_merge(N, (inputs["m1"], inputs["s1"]), (inputs["m2"], inputs["s2"]))
    return {"m": m, "s": s}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """Every element is a row of two states; left out, `adds` is the one addition that a merge is."""
    m = np.stack([inputs["m1"], inputs["m2"]], axis=-1).astype(np.float64)
    s = np.stack([inputs["s1"], inputs["s2"]], axis=-1).astype(np.float64)
    s = np.where(m == -np.inf, 0.0, s)
    once = replace(accuracy, adds=1 if accuracy.adds is None else accuracy.adds)
    top, total = enclose_states(m, s, once, special, first_exp=False)
    return {"m": top, "s": total}

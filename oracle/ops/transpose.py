"""transpose: y[j, i] = x[i, j], all 2^32 bit patterns, bit for bit."""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import matrix as diagnosis
from kfuzz.oracle.enclosure import Bounds, Enclosure, Index
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.verdict import Special

INPUTS = {"x": ("rows", "cols")}
OUTPUTS = {"y": ("cols", "rows")}
VECTOR = False
CUT = {"x": 1, "y": 0}
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition; no number system is needed."""
    return {"y": algorithms.transpose(inputs["x"])}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """Each pattern is its own enclosure; patterns below 2^32 are exact in float64."""
    bits = algorithms.transpose(np.ascontiguousarray(inputs["x"]).view(np.uint32)).astype(np.float64)

    def exact(index: Index, precision: int) -> Bounds:
        raise AssertionError(f"bit patterns at {index} are never in doubt")

    every, none = np.ones(bits.shape, dtype=np.bool_), np.zeros(bits.shape)
    return {"y": Enclosure(bits, bits, bits, every, none, none, exact, bits=True)}

"""transpose: y[j, i] = x[i, j], bit for bit, for all 2^32 bit patterns."""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.diagnosis import matrix as diagnosis
from kfuzz.oracle.numbers.enclosure import Bounds, Enclosure, Floats, Index
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float32[rows, cols]"}
OUTPUTS = {"y": "float32[cols, rows]"}
diagnose = diagnosis.diagnose


def formula(N: System, x: Quantity) -> Quantity:
    return x.T


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """One bit pattern is right for each element; float64 represents patterns below 2^32 exactly."""
    bits = np.ascontiguousarray(inputs["x"].T).view(np.uint32).astype(np.float64)

    def exact(index: Index, precision: int) -> Bounds:
        raise AssertionError(f"bit patterns at {index} are never in doubt")

    every, none = np.ones(bits.shape, dtype=np.bool_), np.zeros(bits.shape)
    return {"y": Enclosure(bits, bits, bits, every, none, none, exact, bits=True)}

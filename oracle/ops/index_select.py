"""index_select: y[i, j, k] = x[i, index[j], k], exactly."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[outer, rows, inner]", "index": "int[n] < rows"}
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, n, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, index: Reals) -> Quantity:
    return x[:, index]

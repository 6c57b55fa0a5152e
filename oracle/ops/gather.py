"""gather: y[i, j, k] = x[i, index[i, j, k], k], exactly: along an axis, the places that an index names."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[outer, cols, inner]", "index": "int[outer, n, inner] < cols"}
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, n, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, index: Reals) -> Quantity:
    return N.take(x, index, axis=-2)

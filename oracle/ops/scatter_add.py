"""scatter_add: y = into, with values[i, j, k] added at [i, index[i, j, k], k], in any order."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "into": "float[outer, cols, inner]", "index": "int[outer, n, inner] < cols", "values": "float[outer, n, inner]",
}  # fmt: skip
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, cols, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, into: Quantity, index: Reals, values: Quantity) -> Quantity:
    return N.scatter(into, index, values, "sum", "scatter", axis=-2)

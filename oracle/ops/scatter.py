"""scatter: y = into, with values[i, j, k] put at [i, index[i, j, k], k]; of several at one place, any."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "into": "float[outer, cols, inner]", "index": "int[outer, n, inner] < cols", "values": "float[outer, n, inner]",
}  # fmt: skip
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, cols, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, into: Quantity, index: Reals, values: Quantity) -> Quantity:
    return N.scatter(into, index, values, "any", "scatter", axis=-2)

"""scatter_min: y = into, and at [i, index[i, j, k], k] the minimum of it and of every values[i, j, k], exactly."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.scattering import one_by_one

INPUTS = {
    "into": "float[outer, cols, inner]", "index": "int[outer, n, inner] < cols", "values": "float[outer, n, inner]",
}  # fmt: skip
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, cols, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, into: Quantity, index: Reals, values: Quantity) -> Quantity:
    y = into
    for one in one_by_one(N, index, values, N.inf):
        y = N.minimum(y, one)
    return y

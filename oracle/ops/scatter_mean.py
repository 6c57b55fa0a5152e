"""scatter_mean: y = the mean of into and of all values[i, j, k] that go to [i, index[i, j, k], k], in any order."""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.exact import scatter_places
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "into": "float[outer, cols, inner]", "index": "int[outer, n, inner] < cols", "values": "float[outer, n, inner]",
}  # fmt: skip
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, cols, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, into: Quantity, index: Reals, values: Quantity) -> Quantity:
    many = np.ones(into.shape)
    np.add.at(many, scatter_places(index, values.shape, -2), 1.0)
    return N.scatter(into, index, values, "sum", "scatter", axis=-2) / N.input(many)

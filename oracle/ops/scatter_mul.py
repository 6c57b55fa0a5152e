"""scatter_mul: y = into, at [i, index[i, j, k], k] multiplied by every values[i, j, k], in any order."""

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
    factors = [into, *one_by_one(N, index, values, 1.0)]
    return N.product(N.join(*(one[..., None] for one in factors)), "scatter")[..., 0]

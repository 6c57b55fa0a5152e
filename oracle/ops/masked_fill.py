"""masked_fill: y = value where mask is not 0, else x, exactly."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "mask": "bool[rows, cols]"}
SCALARS = {"value": -1e9}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, mask: Reals, value: Quantity) -> Quantity:
    return N.where(mask != 0, value, x)

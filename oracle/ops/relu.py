"""relu: y = x where x is above 0, else 0, element by element. Of NaN it is NaN, or 0 as by fmaxf."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity) -> Quantity:
    return N.maximum(x, 0.0)

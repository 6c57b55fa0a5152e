"""copy: y = x, exactly."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {"identity": "copy(x)"}


def formula(N: System, x: Quantity) -> Quantity:
    return x

"""cumprod: y_i = x_0 ... x_i, row by row."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity) -> Quantity:
    return N.running_product(x, "scan")

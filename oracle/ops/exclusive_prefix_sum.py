"""exclusive_prefix_sum: y_i = x_0 + ... + x_(i-1), row by row; the first is 0."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, x: Quantity) -> Quantity:
    return N.running_sum(x, "scan", exclusive=True)

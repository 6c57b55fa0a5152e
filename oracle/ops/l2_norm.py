"""l2_norm: y = sqrt(sum_j x_j^2), row by row; overflow of the squares is not judged."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}


def formula(N: System, x: Quantity) -> Quantity:
    return N.sqrt(N.dot(x, x, "sum"))

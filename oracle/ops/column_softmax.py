"""column_softmax: y_ij = exp(x_ij - max_i x_ij) / sum_i exp(x_ij - max), down each column."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, x: Quantity) -> Quantity:
    e = N.keep(N.exp(x - N.shift(x, axis=-2)), "e")
    return e / N.sum(e, "sum", axis=-2)

"""logsumexp: y = log sum_j exp(x_j), row by row, the maximum taken out."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}


def formula(N: System, x: Quantity) -> Quantity:
    m = N.shift(x)
    return m + N.log(N.sum(N.exp(x - m), "sum"))

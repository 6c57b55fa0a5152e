"""cross_entropy: loss = log sum_j exp(x_j) - x_label, row by row, in either of two ways."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "labels": "int[rows] < cols"}
OUTPUTS = {"loss": "float[rows]"}
FORMS = ("log s - (x - m)", "lse - x")


def formula(N: System, x: Quantity, labels: Reals) -> Quantity:
    m = N.shift(x)
    off = x - m
    logarithm = N.log(N.sum(N.exp(off), "sum"))
    if N.form == "lse - x":
        return (m + logarithm) - N.take(x, labels[:, None])
    return logarithm - N.take(off, labels[:, None])

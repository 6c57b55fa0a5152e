"""mean: y = sum_j x_j / n, row by row."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
WHERE = ("cols >= 1",)


def formula(N: System, x: Quantity) -> Quantity:
    return N.mean(x, "sum")

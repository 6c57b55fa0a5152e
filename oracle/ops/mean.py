"""mean: y = sum_j x_j / n, row by row; or the sum of every x_j / n."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
FORMS = ("sum / n", "sum of x / n")
WHERE = ("cols >= 1",)


def formula(N: System, x: Quantity) -> Quantity:
    return N.mean(x, "sum") if N.form == "sum / n" else N.sum(x / N.size("cols"), "sum")

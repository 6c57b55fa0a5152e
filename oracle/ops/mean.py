"""mean: y = sum_j x_j / n, row by row, or the sum of all x_j / n, or a running mean."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
FORMS = ("sum / n", "sum of x / n", "welford")
WHERE = ("cols >= 1",)


def formula(N: System, x: Quantity) -> Quantity:
    if N.form == "welford":
        return N.mean_var(x, sums=("sum", "sum"))[0]
    return N.mean(x, "sum") if N.form == "sum / n" else N.sum(x / N.size("cols"), "sum")

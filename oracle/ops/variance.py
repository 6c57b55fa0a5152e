"""variance: y = sum_j (x_j - mean)^2 / n, row by row, by one of three algorithms."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
FORMS = ("two pass", "welford", "moments")
WHERE = ("cols >= 1",)


def formula(N: System, x: Quantity) -> Quantity:
    _, var = N.mean_var(x, sums=("mean", "var"))
    return var

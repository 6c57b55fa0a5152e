"""softmax_backward: dx_i = y_i (g_i - sum_j y_j g_j), row by row, with the product distributed or not."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"y": "float[rows, cols]", "g": "float[rows, cols]"}
OUTPUTS = {"dx": "float[rows, cols]"}
FORMS = ("y (g - s)", "y g - y s")


def formula(N: System, y: Quantity, g: Quantity) -> Quantity:
    s = N.dot(y, g, "sum")
    return y * g - y * s if N.form == "y g - y s" else y * (g - s)

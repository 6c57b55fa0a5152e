"""column_softmax: y_ij = exp(x_ij - max_i x_ij) / sum_i exp(x_ij - max), down each column."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("e / s",)
SELDOM = {"exp(x - lse)": "log", "exp(x - m - log s)": "log"}


def formula(N: System, x: Quantity) -> Quantity:
    m = N.shift(x, axis=-2)
    e = N.keep(N.exp(x - m), "e")
    total = N.sum(e, "sum", axis=-2)
    if N.form == "e / s":
        return e / total
    return N.exp(x - (m + N.log(total)) if N.form == "exp(x - lse)" else (x - m) - N.log(total))

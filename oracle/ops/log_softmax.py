"""log_softmax: y_i = x_i - log sum_j exp(x_j), row by row, in either of two ways.

A row that is all -inf gives NaN; an element of -inf in any other row is -inf. NaN and +inf are unclaimed by default.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("x - m - log s", "x - lse")


def formula(N: System, x: Quantity) -> Quantity:
    m = N.shift(x)
    off = x - m
    logarithm = N.log(N.sum(N.exp(off), "sum"))
    return x - (m + logarithm) if N.form == "x - lse" else off - logarithm

"""logsumexp: y = log sum_j exp(x_j), row by row, the maximum taken out.

Of a row of nothing but -inf it is -inf; a kernel that subtracts the maximum all the same has NaN, and that will do.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
SPECIAL = {"all_neg_inf": "-inf or nan"}


def formula(N: System, x: Quantity) -> Quantity:
    m = N.shift(x)
    return m + N.log(N.sum(N.exp(x - m), "sum"))

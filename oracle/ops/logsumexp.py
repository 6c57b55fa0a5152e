"""logsumexp: y = log sum_j exp(x_j), row by row, relative to the maximum.

Of a row of nothing but -inf it is -inf; a kernel that subtracts the maximum all the same has NaN, and that will do.
Put together from operations on 16-bit tensors, as torch has it, each step may be kept narrow.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
SPECIAL = {"all_neg_inf": "-inf or nan"}


def formula(N: System, x: Quantity) -> Quantity:
    m = N.shift(x)
    e = N.keep(N.exp(N.keep(x - m, "x - m")), "e")
    return m + N.keep(N.log(N.keep(N.sum(e, "sum"), "s")), "log s")

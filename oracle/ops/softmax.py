"""softmax: y_i = exp(x_i - max x) / sum_j exp(x_j - max x), row by row.

A row of nothing but -inf is NaN (or zero, where the claim says so); NaN and +inf make their whole row NaN.
"""

from kfuzz.oracle.diagnosis import softmax as diagnosis
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
diagnose = diagnosis.diagnose_row


def formula(N: System, x: Quantity) -> Quantity:
    e = N.keep(N.exp(x - N.shift(x)), "e")
    return e / N.sum(e, "sum")

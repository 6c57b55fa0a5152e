"""softmax: y_i = exp(x_i - max x) / sum_j exp(x_j - max x), row by row.

A row that is all -inf gives NaN, or zero if the claim says so. NaN and +inf make their whole row NaN.
"""

from kfuzz.oracle.diagnosis import softmax as diagnosis
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("e / s",)
SELDOM = {"exp(x - lse)": "log", "exp(x - m - log s)": "log"}
diagnose = diagnosis.diagnose_row


def formula(N: System, x: Quantity) -> Quantity:
    m = N.shift(x)
    e = N.keep(N.exp(x - m), "e")
    total = N.sum(e, "sum")
    if N.form == "e / s":
        return e / total
    return N.exp(x - (m + N.log(total)) if N.form == "exp(x - lse)" else (x - m) - N.log(total))

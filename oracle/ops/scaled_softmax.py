"""scaled_softmax: softmax of scale x + mask, row by row, as attention normalises its scores."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "mask": "float[rows, cols]"}
OPTIONAL = {"mask": 0.0}
SCALARS = {"scale": 1.0}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("e / s",)
SELDOM = {"exp(x - lse)": "log", "exp(x - m - log s)": "log"}


def formula(N: System, x: Quantity, mask: Quantity, scale: Quantity) -> Quantity:
    s = x * scale + mask
    m = N.shift(s)
    e = N.keep(N.exp(s - m), "e")
    total = N.sum(e, "sum")
    if N.form == "e / s":
        return e / total
    return N.exp(s - (m + N.log(total)) if N.form == "exp(x - lse)" else (s - m) - N.log(total))

"""attention: o = softmax(scale q k^T) v, head by head."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"q": "float[heads, rows, d]", "k": "float[heads, keys, d]", "v": "float[heads, keys, dv]"}
SCALARS = {"scale": "1 / sqrt(d)"}
OUTPUTS = {"o": "float[heads, rows, dv]"}
SPECIAL = {"all_neg_inf": "zero or nan"}
FORMS = ("divide last", "normalize first")
SELDOM = {"exp(s - lse)": "log"}
WHERE = ("keys >= 1", "d >= 1")


def formula(N: System, q: Quantity, k: Quantity, v: Quantity, scale: Quantity) -> Quantity:
    s = N.matmul(q, k.T, "qk") * scale
    m = N.shift(s)
    e = N.keep(N.exp(s - m), "e")
    if N.form == "exp(s - lse)":
        return N.matmul(N.exp(s - (m + N.log(N.sum(e, "row")))), v, "pv")
    return N.average(e, v, sums=("pv", "row"))

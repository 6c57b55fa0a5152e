"""masked_attention: o = softmax(scale q k^T + mask) v, with a mask that is added: -inf hides a key.

A row whose keys are all hidden gives zero, as torch's attention has it, or NaN; a claim may say which of them.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "q": "float[heads, rows, d]", "k": "float[heads, keys, d]", "v": "float[heads, keys, dv]",
    "mask": "float[rows, keys]",
}  # fmt: skip
SCALARS = {"scale": "1 / sqrt(d)"}
OUTPUTS = {"o": "float[heads, rows, dv]"}
SPECIAL = {"all_neg_inf": "zero or nan"}
FORMS = ("divide last", "normalize first")
SELDOM = {"exp(s - lse)": "log"}
WHERE = ("keys >= 1", "d >= 1")


def formula(N: System, q: Quantity, k: Quantity, v: Quantity, mask: Quantity, scale: Quantity) -> Quantity:
    s = N.matmul(q, k.T, "qk") * scale + mask
    m = N.shift(s)
    e = N.keep(N.exp(s - m), "e")
    if N.form == "exp(s - lse)":
        return N.matmul(N.exp(s - (m + N.log(N.sum(e, "row")))), v, "pv")
    return N.average(e, v, sums=("pv", "row"))

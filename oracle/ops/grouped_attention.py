"""grouped_attention: causal attention whose heads share keys and values in groups of equal size."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"q": "float[heads, rows, d]", "k": "float[groups, keys, d]", "v": "float[groups, keys, dv]"}
SCALARS = {"scale": "1 / sqrt(d)"}
OUTPUTS = {"o": "float[heads, rows, dv]"}
SPECIAL = {"all_neg_inf": "zero or nan"}
FORMS = ("divide last", "normalize first")
SELDOM = {"exp(s - lse)": "log"}
WHERE = ("keys >= rows", "d >= 1", "groups >= 1", "heads % groups == 0")


def formula(N: System, q: Quantity, k: Quantity, v: Quantity, scale: Quantity) -> Quantity:
    own = N.index("heads") // (N.size("heads") // N.size("groups"))
    s = N.matmul(q, k[own].T, "qk") * scale
    seen = N.index("keys") <= N.index("rows", axis=-2) + (N.size("keys") - N.size("rows"))
    s = N.where(seen, s, -N.inf)
    m = N.shift(s)
    e = N.keep(N.exp(s - m), "e")
    if N.form == "exp(s - lse)":
        return N.matmul(N.exp(s - (m + N.log(N.sum(e, "row")))), v[own], "pv")
    return N.average(e, v[own], sums=("pv", "row"))

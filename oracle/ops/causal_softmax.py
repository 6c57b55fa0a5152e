"""causal_softmax: softmax of scale x over the columns up to each row's own; 0 beyond.

If a row's own columns are all -inf, the columns beyond are NaN like them, or 0 if the kernel does not compute them.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[batch, rows, cols]"}
SCALARS = {"scale": 1.0}
OUTPUTS = {"y": "float[batch, rows, cols]"}
FORMS = ("e / s", "e / s, 0 beyond")
SELDOM = {"exp(x - lse)": "log", "exp(x - m - log s)": "log"}
WHERE = ("cols >= rows",)


def formula(N: System, x: Quantity, scale: Quantity) -> Quantity:
    seen = N.index("cols") <= N.index("rows", axis=-2) + (N.size("cols") - N.size("rows"))
    s = N.where(seen, x * scale, -N.inf)
    m = N.shift(s)
    e = N.keep(N.exp(s - m), "e")
    total = N.sum(e, "sum")
    if N.form.startswith("e / s"):
        return e / total if N.form == "e / s" else N.where(seen, e / total, 0.0)
    return N.exp(s - (m + N.log(total)) if N.form == "exp(x - lse)" else (s - m) - N.log(total))

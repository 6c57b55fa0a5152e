"""causal_softmax: softmax of scale x over the columns up to each row's own; 0 beyond."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[batch, rows, cols]"}
SCALARS = {"scale": 1.0}
OUTPUTS = {"y": "float[batch, rows, cols]"}
WHERE = ("cols >= rows",)


def formula(N: System, x: Quantity, scale: Quantity) -> Quantity:
    seen = N.index("cols") <= N.index("rows", axis=-2) + (N.size("cols") - N.size("rows"))
    s = N.where(seen, x * scale, -N.inf)
    e = N.keep(N.exp(s - N.shift(s)), "e")
    return e / N.sum(e, "sum")

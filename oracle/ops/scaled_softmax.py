"""scaled_softmax: softmax of scale x + mask, row by row, as the scores of an attention are normalised."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "mask": "float[rows, cols]"}
SCALARS = {"scale": 1.0}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, x: Quantity, mask: Quantity, scale: Quantity) -> Quantity:
    s = x * scale + mask
    e = N.keep(N.exp(s - N.shift(s)), "e")
    return e / N.sum(e, "sum")

"""rms_norm: y = x / sqrt(mean x^2 + eps) * w, row by row."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "w": "float[cols]"}
SCALARS = {"eps": 1e-6}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, x: Quantity, w: Quantity, eps: Quantity) -> Quantity:
    mean = N.dot(x, x, "mean") / N.size("cols")
    return N.keep(x * N.rsqrt(mean + eps), "normed") * w

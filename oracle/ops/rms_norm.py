"""rms_norm: y = x / sqrt(mean x^2 + eps) * w, row by row, with the three factors in any order."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "w": "float[cols]"}
OPTIONAL = {"w": 1.0}
SCALARS = {"eps": 1e-6}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("(x r) w", "x (r w)", "(x w) r")


def formula(N: System, x: Quantity, w: Quantity, eps: Quantity) -> Quantity:
    mean = N.dot(x, x, "mean") / N.size("cols")
    r = N.rsqrt(mean + eps)
    if N.form == "(x r) w":
        return N.keep(x * r, "normed") * w
    return x * (r * w) if N.form == "x (r w)" else (x * w) * r

"""layer_norm_backward: the gradients of layer_norm, from the mean and 1 / sqrt(var + eps) that it has saved.

dx = rstd (w g - mean(w g) - (x - mean) rstd mean(w g (x - mean) rstd)), dw = sum g (x - mean) rstd, and db = sum g.
The saved values are inputs as any others: they are taken as they are, not worked out from x.

A kernel may take sums for means until the end, or expand dx into rstd w g + b x + c.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.gradients import through_norm

INPUTS = {
    "x": "float[rows, cols]", "mean": "float[rows]", "rstd": "float[rows]", "w": "float[cols]",
    "g": "float[rows, cols]",
}  # fmt: skip
OPTIONAL = {"w": 1.0}
OUTPUTS = {"dx": "float[rows, cols]", "dw": "float[cols]", "db": "float[cols]"}
FORMS = ("means", "sums", "expanded")


def formula(N: System, x: Quantity, mean: Quantity, rstd: Quantity, w: Quantity, g: Quantity) -> dict[str, Quantity]:
    dx, normed = through_norm(N, x, mean[:, None], rstd[:, None], g * w, (-1,))
    return {"dx": dx, "dw": N.dot(g, normed, "dw", -2)[0], "db": N.sum(g, "db", -2)[0]}

"""batch_norm_backward: the gradients of batch_norm_train, from the mean and 1 / sqrt(var + eps) that it has saved.

With n elements of a channel, dx = w rstd (g - db / n - (x - mean) rstd dw / n), dw = sum g (x - mean) rstd, and
db = sum g. The saved values are inputs as any others: they are taken as they are, not worked out from x.

A kernel may take sums for means until the end, or expand dx into rstd w g + b x + c.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.gradients import through_norm
from kfuzz.oracle.words.normalizing import per_channel

INPUTS = {
    "x": "float[batch, channels, places]", "mean": "float[channels]", "rstd": "float[channels]",
    "w": "float[channels]", "g": "float[batch, channels, places]",
}  # fmt: skip
OPTIONAL = {"w": 1.0, "places": 1}
OUTPUTS = {"dx": "float[batch, channels, places]", "dw": "float[channels]", "db": "float[channels]"}
FORMS = ("means", "sums", "expanded")


def formula(N: System, x: Quantity, mean: Quantity, rstd: Quantity, w: Quantity, g: Quantity) -> dict[str, Quantity]:
    mean, rstd, w = (per_channel(one, x) for one in (mean, rstd, w))
    axes = (-3, -1)
    dx, normed = through_norm(N, x, mean, rstd, g, axes)
    return {"dx": dx * w, "dw": N.dot(g, normed, "dw", axes).reshaped(-1), "db": N.sum(g, "db", axes).reshaped(-1)}

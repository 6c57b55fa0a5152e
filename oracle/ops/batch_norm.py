"""batch_norm: y = (x - mean) / sqrt(var + eps) * w + b, with running values for each channel, as in evaluation.

A kernel may expand (x - mean) r to x r - mean r, or fold the rest into x (r w) + (b - mean (r w)).
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.normalizing import affine, per_channel

INPUTS = {
    "x": "float[batch, channels, places]", "mean": "float[channels]", "var": "float[channels]",
    "w": "float[channels]", "b": "float[channels]",
}  # fmt: skip
OPTIONAL = {"w": 1.0, "b": 0.0, "places": 1}
SCALARS = {"eps": 1e-5}
OUTPUTS = {"y": "float[batch, channels, places]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
FORMS = ("plain", "expanded", "folded")


def formula(N: System, x: Quantity, mean: Quantity, var: Quantity, w: Quantity, b: Quantity, eps: Quantity) -> Quantity:
    mean, var, w, b = (per_channel(one, x) for one in (mean, var, w, b))
    return affine(N, x, mean, N.rsqrt(var + eps), w, b)

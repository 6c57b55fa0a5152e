"""rms_norm_quantize: x / sqrt(mean x^2 + eps) * w, quantized with a scale for each group of a row."""

from kfuzz.oracle.ops import rms_norm
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "w": "float[cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, cols / group]"}
SCALARS = {"eps": 1e-6, "least": 1e-10, "least_scale": 0.0}
FORMS = rms_norm.FORMS
AXES = {"group": "cols"}


def formula(
    N: System, x: Quantity, w: Quantity, eps: Quantity, least: Quantity, least_scale: Quantity
) -> dict[str, Quantity]:
    g = N.groups(N.keep(rms_norm.formula(N, x, w, eps), "norm"), "group")
    s = N.scale(N.amax(g), "q", "scale", least, least_scale)
    return {"q": N.quantize(g, N.written(s), "q"), "scale": s}

"""rms_norm_static_quantize: x / sqrt(mean x^2 + eps) * w, quantized with one scale for all, which is given."""

from kfuzz.oracle.ops import rms_norm
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "w": "float[cols]", "scale": "float[1]"}
OUTPUTS = {"q": "grid[rows, cols]"}
SCALARS, FORMS = rms_norm.SCALARS, rms_norm.FORMS


def formula(N: System, x: Quantity, w: Quantity, scale: Quantity, eps: Quantity) -> Quantity:
    norm = N.keep(rms_norm.formula(N, x, w, eps), "norm")
    return N.quantize(N.groups(norm, x.shape[1], x.shape[0]), scale.reshaped(1, 1), "q")

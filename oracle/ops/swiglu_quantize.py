"""swiglu_quantize: silu(a) b, quantized with a scale for each group of a row."""

from kfuzz.oracle.ops import swiglu
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[rows, cols]", "b": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, cols / group]"}
SCALARS = {"least": 1e-10, "least_scale": 0.0}
FORMS, SELDOM = swiglu.FORMS, swiglu.SELDOM
AXES = {"group": 128}


def formula(N: System, a: Quantity, b: Quantity, least: Quantity, least_scale: Quantity) -> dict[str, Quantity]:
    g = N.groups(N.keep(swiglu.formula(N, a, b), "product"), "group")
    s = N.scale(N.amax(g), "q", "scale", least, least_scale)
    return {"q": N.quantize(g, N.written(s), "q"), "scale": s}

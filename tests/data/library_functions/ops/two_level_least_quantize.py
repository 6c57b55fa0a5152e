"""two_level_quantize with the inverse of `overall`: q = x / (scale inverse), scale = amax / largest number / inverse.

The scale is no less than `least_scale`, and `inverse` counts as no less than 2^-30.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "inverse": "float[1]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, cols / group]"}
SCALARS = {"least_scale": 0.015625}
AXES = {"group": 16}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, inverse: Quantity, least_scale: Quantity) -> dict[str, Quantity]:
    g, inverse = N.groups(x, "group"), N.maximum(inverse, 2.0**-30)
    s = N.scale(N.amax(g) / inverse, "q", "scale", least_scale=least_scale)
    return {"q": N.quantize(g, N.written(s) * inverse, "q"), "scale": s}

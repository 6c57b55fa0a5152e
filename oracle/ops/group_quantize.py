"""group_quantize: q = x / scale on a grid, with a scale for each group of a row: scale = amax / largest number.

A group has `group` neighbours of a row, 128 by default; "cols" gives one scale for each row. The last may be shorter.
amax counts as no less than `eps`, and the scale as no less than `least_scale`.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, cols / group]"}
SCALARS = {"eps": 1e-10, "least_scale": 0.0}
AXES = {"group": 128}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, eps: Quantity, least_scale: Quantity) -> dict[str, Quantity]:
    g = N.groups(x, "group")
    s = N.scale(N.amax(g), "q", "scale", eps, least_scale)
    return {"q": N.quantize(g, N.written(s), "q"), "scale": s}

"""block_quantize: q = x / scale on a grid, with a scale for each block of a matrix: scale = amax / largest number.

A block has `height` rows and `width` columns, 128 of each by default; height = "rows" with width = "cols" gives one
scale for all, and with width = 1 one for each column. The last blocks may be smaller.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows / height, cols / width]"}
SCALARS = {"eps": 1e-10, "least_scale": 0.0}
AXES = {"height": 128, "width": 128}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, eps: Quantity, least_scale: Quantity) -> dict[str, Quantity]:
    g = N.groups(x, "width", "height")
    s = N.scale(N.amax(g), "q", "scale", eps, least_scale)
    return {"q": N.quantize(g, N.written(s), "q"), "scale": s}

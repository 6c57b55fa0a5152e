"""affine_quantize: q = round(x / scale) + zero, with a scale and a zero point for each group of a row.

scale = (the largest number - the least one) / the largest of the grid, of a group and 0; zero = round(-least / scale).
Kernels clamp q: claim saturate = "finite". For grids of unsigned integers, such as u4 and u8.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, cols / group]", "zero": "grid[rows, cols / group]"}
SCALARS = {"eps": 1e-10}
AXES = {"group": 128}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, eps: Quantity) -> dict[str, Quantity]:
    g = N.groups(x, "group")
    most = N.maximum(N.amax(g, signed=True), 0.0)
    below = N.maximum(N.amax(N.groups(-x, "group"), signed=True), 0.0)
    scale = N.scale(most + below, "q", "scale", eps)
    s = N.written(scale)
    zero = N.quantize(N.groups(below, 1), s, "zero")
    return {"q": N.quantize(g, s, "q", N.written(zero)), "scale": scale, "zero": zero}

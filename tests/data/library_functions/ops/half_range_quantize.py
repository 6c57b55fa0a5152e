"""half_range_quantize: q = x / scale, scale = amax / 127.5, which is half of what lies between -128 and 127."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, 1]"}
SCALARS = {"least": 1.1754943508222875e-38}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, least: Quantity) -> dict[str, Quantity]:
    g = N.groups(x, "cols")
    scale = N.maximum(N.amax(g) / 127.5, least)
    return {"q": N.quantize(g, N.written(scale), "q"), "scale": scale}

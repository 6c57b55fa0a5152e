"""two_level_quantize: q = x / (scale / overall) on a grid; the scale of each group is itself rounded to a narrow type.

As in nvfp4: scale = overall amax / largest number, in e4m3 for 16 neighbours of a row, and `overall` is one float.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "overall": "float[1]"}
OUTPUTS = {"q": "grid[rows, cols]", "scale": "float[rows, cols / group]"}
AXES = {"group": 16}
FORMS = ("x / (scale / overall)", "x (overall / scale)")
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, overall: Quantity) -> dict[str, Quantity]:
    g = N.groups(x, "group")
    s = N.scale(N.amax(g) * overall, "q", "scale")
    if N.form == "x (overall / scale)":
        return {"q": N.quantize(g, 1.0 / (overall / N.written(s)), "q"), "scale": s}
    return {"q": N.quantize(g, N.written(s) / overall, "q"), "scale": s}

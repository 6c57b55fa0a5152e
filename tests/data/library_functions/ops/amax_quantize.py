"""amax_quantize: q = 127 x / amax, with the amax of each row as its scale."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "amax": "float[rows, 1]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity) -> dict[str, Quantity]:
    g = N.groups(x, "cols")
    amax = N.amax(g)
    return {"q": N.quantize(g, N.written(amax) / 127.0, "q"), "amax": amax}

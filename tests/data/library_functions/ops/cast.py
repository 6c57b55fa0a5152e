"""cast: q = x, rounded to the numbers of q's element type."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity) -> Quantity:
    return N.quantize(N.groups(x, "cols", "rows"), N.number(1.0).reshaped(1, 1), "q")

"""static_quantize: q = x / scale + zero on a grid, with scales and zero points that are given.

There is one scale for each block of `height` rows and `width` columns: by default one for all. An integer `zero` is
added after rounding, or before it.
"""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "x": "float[rows, cols]",
    "scale": "float[rows / height, cols / width]",
    "zero": "int[rows / height, cols / width]",
}
OUTPUTS = {"q": "grid[rows, cols]"}
AXES = {"height": "rows", "width": "cols"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, scale: Quantity, zero: Reals) -> Quantity:
    return N.quantize(N.groups(x, "width", "height"), scale, "q", N.input(zero.astype("f8")))

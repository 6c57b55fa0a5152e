"""static_affine_quantize: q = round(x / scale) + zero, with scales and zero points that are given, of q's own type.

There is one of each for each block of `height` rows and `width` columns.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "x": "float[rows, cols]",
    "scale": "float[rows / height, cols / width]",
    "zero": "grid[rows / height, cols / width]",
}
OUTPUTS = {"q": "grid[rows, cols]"}
AXES = {"height": "rows", "width": "cols"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, scale: Quantity, zero: Quantity) -> Quantity:
    return N.quantize(N.groups(x, "width", "height"), scale, "q", zero)

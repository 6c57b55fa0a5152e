"""group_dequantize: y = q scale, of numbers on a grid, with a scale for each block of `height` by `width` elements."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"q": "grid[rows, cols]", "scale": "float[rows / height, cols / width]"}
OUTPUTS = {"y": "float[rows, cols]"}
AXES = {"height": 1, "width": 128}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, q: Quantity, scale: Quantity) -> Quantity:
    return N.dequantize(N.groups(q, "width", "height"), scale)

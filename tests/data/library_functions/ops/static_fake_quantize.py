"""static_fake_quantize: y = (q - zero) scale for q = round(x / scale) + zero, on the grid that the claim's form names.

Scales and zero points are given, one for each block of `height` rows and `width` columns.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "x": "float[rows, cols]",
    "scale": "float[rows / height, cols / width]",
    "zero": "grid[rows / height, cols / width]",
}
OUTPUTS = {"y": "float[rows, cols]"}
AXES = {"height": "rows", "width": "cols"}
FORMS = ("i8", "u8")
NEEDS_FORM = True
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, scale: Quantity, zero: Quantity) -> Quantity:
    q = N.quantize(N.groups(x, "width", "height"), scale, N.form, zero)
    return N.dequantize(N.groups(q, "width", "height"), scale, zero)

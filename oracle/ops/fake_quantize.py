"""fake_quantize: y = round(x / scale) scale, on the grid that the claim's form names; the scale is not written.

There is one scale for each block of `height` rows and `width` columns: amax / largest number. One scale must fit all
elements of a block.
"""

from kfuzz.oracle.numbers.elements import ELEMENTS
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SCALARS = {"eps": 1e-10}
AXES = {"height": 1, "width": 128}
FORMS = tuple(one.name for one in ELEMENTS.values() if one.is_narrow and one.kind in ("float", "signed"))
NEEDS_FORM = True
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, eps: Quantity) -> Quantity:
    g = N.groups(x, "width", "height")
    s = N.scale(N.amax(g), N.form, "", eps)
    return N.dequantize(N.quantize(g, s, N.form), s)

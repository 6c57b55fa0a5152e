"""affine_dequantize: y = (q - zero) scale, with a scale and a zero point for each block of `height` by `width`."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "q": "grid[rows, cols]",
    "scale": "float[rows / height, cols / width]",
    "zero": "grid[rows / height, cols / width]",
}
OUTPUTS = {"y": "float[rows, cols]"}
AXES = {"height": 1, "width": 128}
FORMS = ("(q - zero) scale", "q scale - zero scale")


def formula(N: System, q: Quantity, scale: Quantity, zero: Quantity) -> Quantity:
    g = N.groups(q, "width", "height")
    if N.form == "(q - zero) scale":
        return N.dequantize(g, scale, zero)
    return N.dequantize(g, scale) - N.dequantize(N.groups(1.0 + 0.0 * q, "width", "height"), zero * scale)

"""dequantize: y = (q - zero) scale, integers of any width with a scale and a zero point a row."""

from kfuzz.oracle.systems.formats import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"q": "int[rows, cols]", "scale": "float[rows]", "zero": "int[rows]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, q: Reals, scale: Quantity, zero: Reals) -> Quantity:
    return N.input(q.astype("f8") - zero[:, None]) * scale[:, None]

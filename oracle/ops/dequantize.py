"""dequantize: y = (q - zero) scale, integers of any width, with a scale and a zero point for each row."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"q": "int[rows, cols]", "scale": "float[rows]", "zero": "int[rows]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("(q - zero) scale", "q scale - zero scale")


def formula(N: System, q: Reals, scale: Quantity, zero: Reals) -> Quantity:
    if N.form == "q scale - zero scale":
        return N.input(q.astype("f8")) * scale[:, None] - N.input(zero.astype("f8")[:, None]) * scale[:, None]
    return N.input(q.astype("f8") - zero[:, None]) * scale[:, None]

"""amax_dequantize: y = q amax / 127, with an amax for each row."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"q": "grid[rows, cols]", "amax": "float[rows, 1]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("divided", "multiplied")


def formula(N: System, q: Quantity, amax: Quantity) -> Quantity:
    return q * amax / 127.0 if N.form == "divided" else q * amax * (1 / 127)

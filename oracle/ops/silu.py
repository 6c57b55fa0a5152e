"""silu: y = x / (1 + exp(-x)), or x times the sigmoid of x, element by element."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("x / (1 + exp(-x))", "x sigmoid(x)")


def formula(N: System, x: Quantity) -> Quantity:
    return x * N.sigmoid(x) if N.form == "x sigmoid(x)" else x / (1.0 + N.exp(-x))

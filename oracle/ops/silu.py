"""silu: y = x / (1 + exp(-x)), or x times the sigmoid of x, element by element.

A sigmoid made of tanh has no relative accuracy far below 0, so a claim has to name that form.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("x / (1 + exp(-x))", "x sigmoid(x)")
SELDOM = {"x / 2 (1 + tanh(x / 2))": "tanh"}


def formula(N: System, x: Quantity) -> Quantity:
    if N.form == "x / 2 (1 + tanh(x / 2))":
        return x * (0.5 + 0.5 * N.tanh(0.5 * x))
    return x * N.sigmoid(x) if N.form == "x sigmoid(x)" else x / (1.0 + N.exp(-x))

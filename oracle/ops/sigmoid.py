"""sigmoid: y = 1 / (1 + exp(-x)), element by element.

A sigmoid made of tanh has no relative accuracy far below 0, so a claim has to name that form.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SELDOM = {"1 / 2 + tanh(x / 2) / 2": "tanh"}


def formula(N: System, x: Quantity) -> Quantity:
    return 0.5 + 0.5 * N.tanh(0.5 * x) if N.form == "1 / 2 + tanh(x / 2) / 2" else N.sigmoid(x)

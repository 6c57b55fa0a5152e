"""tanh: the hyperbolic tangent, element by element.

One made of exp has no relative accuracy near 0, where two numbers cancel, so a claim has to name that form. One that
divides exp(2 x) - 1 by exp(2 x) + 1 gives NaN from 45 on, so it is no form.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SELDOM = {"1 - 2 / (1 + exp(2 x))": "exp", "2 / (1 + exp(-2 x)) - 1": "exp"}


def formula(N: System, x: Quantity) -> Quantity:
    if N.form == "1 - 2 / (1 + exp(2 x))":
        return 1.0 - 2.0 / (1.0 + N.exp(2.0 * x))
    if N.form == "2 / (1 + exp(-2 x)) - 1":
        return 2.0 / (1.0 + N.exp(-2.0 * x)) - 1.0
    return N.tanh(x)

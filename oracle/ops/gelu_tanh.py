"""gelu_tanh: y = x / 2 (1 + tanh t) with t = sqrt(2 / pi) (x + 0.044715 x^3), also written x / (1 + exp(-2 t))."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("tanh", "sigmoid")
ROOT_TWO_OVER_PI = 0.7978845608028654


def formula(N: System, x: Quantity) -> Quantity:
    t = ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x)
    if N.form == "sigmoid":
        return x / (1.0 + N.exp(-2.0 * t))
    return 0.5 * x * (1.0 + N.tanh(t))

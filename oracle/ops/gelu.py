"""gelu: y = x Phi(x) = x / 2 (1 + erf(x / sqrt 2)), element by element."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
ROOT_HALF = 0.7071067811865476


def formula(N: System, x: Quantity) -> Quantity:
    return 0.5 * x * (1.0 + N.erf(x * ROOT_HALF))

"""rotary: rotates the two halves of each row by given angles: x1 cos - x2 sin, then x2 cos + x1 sin."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, d]", "cos": "float[rows, half]", "sin": "float[rows, half]"}
OUTPUTS = {"y": "float[rows, d]"}
WHERE = ("d == 2 * half",)


def formula(N: System, x: Quantity, cos: Quantity, sin: Quantity) -> Quantity:
    half = N.size("half")
    first, second = x[:, :half], x[:, half:]
    return N.join(first * cos - second * sin, second * cos + first * sin)

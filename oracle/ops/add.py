"""add: y = a + b, element by element."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[rows, cols]", "b": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {"vector_add": "add(a, b)", "vec_add": "add(a, b)"}


def formula(N: System, a: Quantity, b: Quantity) -> Quantity:
    return a + b

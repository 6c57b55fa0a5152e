"""embedding: y[i] is row index[i] of w, exactly."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"index": "int[n] < rows", "w": "float[rows, cols]"}
OUTPUTS = {"y": "float[n, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, index: Reals, w: Quantity) -> Quantity:
    return w[index]

"""where: y = a where mask is not 0, else b, exactly."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"mask": "bool[rows, cols]", "a": "float[rows, cols]", "b": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, mask: Reals, a: Quantity, b: Quantity) -> Quantity:
    return N.where(mask != 0, a, b)

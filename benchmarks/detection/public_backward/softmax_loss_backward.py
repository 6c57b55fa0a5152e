"""softmax_loss_backward: dx = (p - (1 at the label)) g, row by row, from saved probabilities."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"p": "float[rows, cols]", "labels": "int[rows] < cols", "g": "float[rows]"}
OUTPUTS = {"dx": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, p: Quantity, labels: Reals, g: Quantity) -> Quantity:
    return N.where(N.index("cols") == labels[:, None], p - 1.0, p) * g[:, None]

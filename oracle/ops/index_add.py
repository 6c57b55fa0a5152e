"""index_add: y = into, with row i of values added to row index[i], in any order."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"into": "float[rows, cols]", "index": "int[n] < rows", "values": "float[n, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, into: Quantity, index: Reals, values: Quantity) -> Quantity:
    return N.scatter(into, index[:, None], values, "sum", "scatter", axis=0)

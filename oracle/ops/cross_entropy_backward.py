"""cross_entropy_backward: dx = (exp(x - lse) - (1 at the label)) g, row by row, from a saved logarithm of the sum.

lse is an input as any other: it is taken as it is, not worked out from x. The product with g may be distributed.
"""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "labels": "int[rows] < cols", "lse": "float[rows]", "g": "float[rows]"}
OUTPUTS = {"dx": "float[rows, cols]"}
FORMS = ("(p - 1) g", "p g - g")


def formula(N: System, x: Quantity, labels: Reals, lse: Quantity, g: Quantity) -> Quantity:
    p = N.exp(x - lse[:, None])
    g, is_label = g[:, None], N.index("cols") == labels[:, None]
    if N.form == "p g - g":
        return N.where(is_label, p * g - g, p * g)
    return N.where(is_label, p - 1.0, p) * g

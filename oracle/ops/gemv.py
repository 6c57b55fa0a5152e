"""gemv: y = alpha A x + beta y0."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[m, k]", "x": "float[k]", "y0": "float[m]"}
SCALARS = {"alpha": 1.0, "beta": 0.0}
OUTPUTS = {"y": "float[m]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, a: Quantity, x: Quantity, y0: Quantity, alpha: Quantity, beta: Quantity) -> Quantity:
    return alpha * N.matmul(a, x[:, None], "k") + beta * y0[:, None]

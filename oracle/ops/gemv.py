"""gemv: y = alpha A x + beta y0."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[m, k]", "x": "float[k]", "y0": "float[m]"}
OPTIONAL = {"y0": 0.0}
SCALARS = {"alpha": 1.0, "beta": 0.0}
OUTPUTS = {"y": "float[m]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
FORMS = ("y0 last", "sums start at y0")


def formula(N: System, a: Quantity, x: Quantity, y0: Quantity, alpha: Quantity, beta: Quantity) -> Quantity:
    if N.form == "sums start at y0":  # alpha is multiplied into a factor, as in BLAS
        return N.matmul(a if alpha.is_one else alpha * a, x[:, None], "k", (beta * y0[:, None],))
    return alpha * N.matmul(a, x[:, None], "k") + beta * y0[:, None]

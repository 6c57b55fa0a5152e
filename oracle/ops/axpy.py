"""axpy: y = alpha x + y, as BLAS has it; y may be written in place."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[n]", "y": "float[n]"}
SCALARS = {"alpha": 2.0}
OUTPUTS = {"y": "float[n]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {"saxpy": "axpy(x, y)"}


def formula(N: System, x: Quantity, y: Quantity, alpha: Quantity) -> Quantity:
    return alpha * x + y

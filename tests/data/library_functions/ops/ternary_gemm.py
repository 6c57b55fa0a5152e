"""ternary_gemm: C = A W, where W is w confined to -1, 0 and 1."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "grid[m, k]", "w": "grid[k, n]"}
OUTPUTS = {"c": "float[m, n]"}


def formula(N: System, a: Quantity, w: Quantity) -> Quantity:
    return N.matmul(a, N.minimum(N.maximum(w, -1.0), 1.0), "k")

"""amax_gemm: C = A B^T amax_a amax_b / 127^2, of 8-bit integers with an amax for each row of A and of B."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "grid[m, k]", "b": "grid[n, k]", "amax_a": "float[m, 1]", "amax_b": "float[n, 1]"}
OUTPUTS = {"c": "float[m, n]"}


def formula(N: System, a: Quantity, b: Quantity, amax_a: Quantity, amax_b: Quantity) -> Quantity:
    return N.matmul(a, b.T, "k") * (amax_a * amax_b.T) * (1 / 127**2)

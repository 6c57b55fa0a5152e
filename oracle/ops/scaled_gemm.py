"""scaled_gemm: C = (A scale_a) (B scale_b), of matrices on grids; the sums of each block of k are scaled, then added.

A kernel that dequantizes A and B first rounds, overflows and underflows in other places: it claims "scaled factors".

Scales belong to blocks of `rows_of_a` by `depth` of A and `depth` by `cols_of_b` of B. By default depth is all of k:
one scale for each row and column. ("m", "k", "n") is one for each matrix, (1, 128, 128) block-scaled, (1, 32, 1) mxfp8.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "a": "grid[m, k]",
    "b": "grid[k, n]",
    "scale_a": "float[m / rows_of_a, k / depth]",
    "scale_b": "float[k / depth, n / cols_of_b]",
}
OUTPUTS = {"c": "float[m, n]"}
AXES = {"rows_of_a": 1, "depth": "k", "cols_of_b": 1}
SELDOM = {"scaled factors": ""}


def formula(N: System, a: Quantity, b: Quantity, scale_a: Quantity, scale_b: Quantity) -> Quantity:
    if N.form == "scaled factors":
        left = N.dequantize(N.groups(a, "depth", "rows_of_a"), scale_a)
        return N.matmul(left, N.dequantize(N.groups(b, "cols_of_b", "depth"), scale_b), "k")
    return scale_sums(N, a, b, scale_a, scale_b)


def scale_sums(N: System, a: Quantity, b: Quantity, scale_a: Quantity, scale_b: Quantity) -> Quantity:
    """The sum over all blocks of k of each block's product times its scales."""
    m, n, depth = a.shape[0], b.shape[1], N.size("depth")
    parts = []
    for place, first in enumerate(range(0, N.size("k"), depth)):
        part = N.matmul(a[:, first : first + depth], b[first : first + depth], "k")
        scale = scale_a[:, place : place + 1] * scale_b[place : place + 1]
        parts.append(N.dequantize(N.groups(part, "cols_of_b", "rows_of_a"), scale).reshaped(m, n, 1))
    return N.sum(N.join(*parts), "blocks").reshaped(m, n)

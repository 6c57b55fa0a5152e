"""weight_only_gemm_zeros: C = X W, W = (w - zero) scale, with a scale and a zero for each `depth` of k of a column."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[m, k]", "w": "grid[k, n]", "scale": "float[k / depth, n]", "zero": "grid[k / depth, n]"}
OUTPUTS = {"c": "float[m, n]"}
AXES = {"depth": 128}


def formula(N: System, x: Quantity, w: Quantity, scale: Quantity, zero: Quantity) -> Quantity:
    weights = N.dequantize(N.groups(w, 1, "depth"), scale, zero)
    return N.matmul(x, N.keep(weights, "weights"), "k")

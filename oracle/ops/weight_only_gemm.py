"""weight_only_gemm: C = X W, W = (w - zero) scale on a grid, with a scale for each `depth` of k of a column.

`zero` is one number for all, 8 in GPTQ's int4. A kernel that keeps W in 16 bits claims it: keep = { weights = "bf16" }.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[m, k]", "w": "grid[k, n]", "scale": "float[k / depth, n]"}
OUTPUTS = {"c": "float[m, n]"}
SCALARS = {"zero": 0.0}
AXES = {"depth": 128}


def formula(N: System, x: Quantity, w: Quantity, scale: Quantity, zero: Quantity) -> Quantity:
    weights = N.dequantize(N.groups(w - zero, 1, "depth"), scale)
    return N.matmul(x, N.keep(weights, "weights"), "k")

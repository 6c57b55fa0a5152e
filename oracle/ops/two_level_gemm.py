"""two_level_gemm: C = overall (A scale_a) (B scale_b) as in nvfp4: narrow scales for blocks of k, one float over all.

The blocks are those of scaled_gemm, 16 along k by default. `overall` is what both overall scales leave of each other:
1 / (overall of A x overall of B).
"""

from kfuzz.oracle.ops import scaled_gemm
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {**scaled_gemm.INPUTS, "overall": "float[1]"}
OUTPUTS = scaled_gemm.OUTPUTS
AXES = {**scaled_gemm.AXES, "depth": 16}
FORMS = ("overall last", "overall in each block")


def formula(N: System, a: Quantity, b: Quantity, scale_a: Quantity, scale_b: Quantity, overall: Quantity) -> Quantity:
    if N.form == "overall last":
        return scaled_gemm.scale_sums(N, a, b, scale_a, scale_b) * overall
    return scaled_gemm.scale_sums(N, a, b, scale_a * overall, scale_b)

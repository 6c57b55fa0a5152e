"""layer_norm: y = (x - mean) / sqrt(var + eps) * w + b, row by row; the variance by one of three algorithms.

Under "moments" a row whose mean is large against its spread may come out as anything: E[x^2] - mean^2 cancels.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "w": "float[cols]", "b": "float[cols]"}
SCALARS = {"eps": 1e-5}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("two pass", "welford", "moments")


def formula(N: System, x: Quantity, w: Quantity, b: Quantity, eps: Quantity) -> Quantity:
    mean, var = N.mean_var(x, sums=("mean", "var"))
    return (x - mean) * N.rsqrt(var + eps) * w + b

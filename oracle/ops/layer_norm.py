"""layer_norm: y = (x - mean) / sqrt(var + eps) * w + b, row by row, with the variance by one of three algorithms.

Over several axes it is layer_norm(x[rows, height, width], w[height, width], b[height, width]).

A kernel may expand (x - mean) r to x r - mean r, or fold the rest into x (r w) + (b - mean (r w)).

Under "moments" any answer may be right for a row whose mean is large against its spread: E[x^2] - mean^2 cancels.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.normalizing import affine

INPUTS = {"x": "float[rows, cols]", "w": "float[cols]", "b": "float[cols]"}
OPTIONAL = {"w": 1.0, "b": 0.0}
SCALARS = {"eps": 1e-5}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = (
    "two pass", "welford", "moments", "two pass expanded", "welford expanded", "moments expanded",
    "two pass folded", "welford folded", "moments folded",
)  # fmt: skip


def formula(N: System, x: Quantity, w: Quantity, b: Quantity, eps: Quantity) -> Quantity:
    mean, var = N.mean_var(x, sums=("mean", "var"))
    r = N.rsqrt(var + eps)
    return affine(N, x, mean, r, w, b)

"""inverse_scale_quantize: q = x inverse, inverse = the largest number of q's type / amax, of each row; e4m3 alone."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"q": "grid[rows, cols]", "inverse": "float[rows, 1]"}
SCALARS = {"eps": 1e-12}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, eps: Quantity) -> dict[str, Quantity]:
    inverse = 448.0 / N.maximum(N.amax(N.groups(x, "cols")), eps)
    return {
        "q": N.quantize(N.groups(x * N.written(inverse), "cols", "rows"), N.number(1.0).reshaped(1, 1), "q"),
        "inverse": inverse,
    }

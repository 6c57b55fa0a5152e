"""causal_softmax_backward: dx_i = (y_i (g_i - sum_j y_j g_j)) / 2 over the places up to the row's own; 0 beyond."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"y": "float[heads, rows, cols]", "g": "float[heads, rows, cols]"}
OUTPUTS = {"dx": "float[heads, rows, cols]"}
WHERE = ("rows == cols",)


def formula(N: System, y: Quantity, g: Quantity) -> Quantity:
    is_seen = N.index("cols") <= N.index("rows", -2)
    p, up = N.where(is_seen, y, 0.0), N.where(is_seen, g, 0.0)
    return 0.5 * (p * (up - N.dot(p, up, "sum")))

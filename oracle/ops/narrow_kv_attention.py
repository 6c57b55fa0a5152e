"""narrow_kv_attention: o = softmax(scale q k^T) v, head by head; k and v lie on a grid, with a scale for each head."""

from kfuzz.oracle.ops import attention
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "q": "float[heads, rows, d]",
    "k": "grid[heads, keys, d]",
    "v": "grid[heads, keys, dv]",
    "scale_k": "float[heads]",
    "scale_v": "float[heads]",
}
OUTPUTS = {"o": "float[heads, rows, dv]"}
SCALARS, FORMS, SELDOM = attention.SCALARS, attention.FORMS, attention.SELDOM
WHERE = ("keys >= 1", "d >= 1")


def formula(
    N: System, q: Quantity, k: Quantity, v: Quantity, scale_k: Quantity, scale_v: Quantity, scale: Quantity
) -> Quantity:
    keys = N.keep(k * scale_k[:, None, None], "k")
    return attention.formula(N, q, keys, N.keep(v * scale_v[:, None, None], "v"), scale)

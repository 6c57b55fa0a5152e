"""narrow_kv_attention: o = softmax(scale q k^T) v, head by head; k and v lie on a grid, with a scale for each head.

A claim may have one scale for several heads, and for so many keys: one for all is heads_together = "heads", one for
each key is keys_together = 1.
"""

from kfuzz.oracle.ops import attention
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "q": "float[heads, rows, d]",
    "k": "grid[heads, keys, d]",
    "v": "grid[heads, keys, dv]",
    "scale_k": "float[heads / heads_together, keys / keys_together]",
    "scale_v": "float[heads / heads_together, keys / keys_together]",
}
OUTPUTS = {"o": "float[heads, rows, dv]"}
SCALARS, FORMS, SELDOM = attention.SCALARS, attention.FORMS, attention.SELDOM
AXES = {"heads_together": 1, "keys_together": "keys"}
WHERE = ("keys >= 1", "d >= 1")


def formula(
    N: System, q: Quantity, k: Quantity, v: Quantity, scale_k: Quantity, scale_v: Quantity, scale: Quantity
) -> Quantity:
    keys = N.keep(widen(N, k, scale_k), "k")
    return attention.formula(N, q, keys, N.keep(widen(N, v, scale_v), "v"), scale)


def widen(N: System, x: Quantity, scale: Quantity) -> Quantity:
    """The numbers that the codes of keys or values mean: a head is one row, in which a key has its elements."""
    heads, keys, cols = x.shape
    rows = N.groups(x.reshaped(heads, keys * cols), N.size("keys_together") * max(cols, 1), N.size("heads_together"))
    return N.dequantize(rows, scale).reshaped(heads, keys, cols)

"""paged_kv_attention: narrow_kv_attention over pages of a cache, which `table` lists in the order of the sequence.

All pages are full, and a page may be listed twice. There is one scale for all keys, and one for all values.
"""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.ops import attention
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "q": "float[heads, rows, d]",
    "k": "grid[heads, pages, page, d]",
    "v": "grid[heads, pages, page, dv]",
    "table": "int[used] < pages",
    "scale_k": "float[1]",
    "scale_v": "float[1]",
}
OUTPUTS = {"o": "float[heads, rows, dv]"}
SCALARS, FORMS, SELDOM = attention.SCALARS, attention.FORMS, attention.SELDOM
WHERE = ("pages >= 1", "page >= 1", "used >= 1", "d >= 1")


def formula(
    N: System,
    q: Quantity,
    k: Quantity,
    v: Quantity,
    table: Reals,
    scale_k: Quantity,
    scale_v: Quantity,
    scale: Quantity,
) -> Quantity:
    keys, values = (N.keep(gather(x, table) * s, name) for x, s, name in ((k, scale_k, "k"), (v, scale_v, "v")))
    return attention.formula(N, q, keys, values, scale)


def gather(x: Quantity, table: Reals) -> Quantity:
    """The keys or values of a sequence: its pages, one after the other."""
    heads, _, page, cols = x.shape
    return x[:, table].reshaped(heads, len(table) * page, cols)

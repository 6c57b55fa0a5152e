"""varlen_attention: attention of sequences that lie one after another; sequence b has the queries from cu_q[b] on.

Its keys and values lie from cu_k[b] to below cu_k[b + 1]. A query without a key gives zero, or NaN.
"""

from functools import partial

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.ops import attention
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.segments import PartOfRows, put_in_order, rows_of

INPUTS = {
    "q": "float[queries, heads, d]",
    "k": "float[keys, heads, d]",
    "v": "float[keys, heads, dv]",
    "cu_q": "int[batch + 1] rises 0..queries",
    "cu_k": "int[batch + 1] rises 0..keys",
}
SCALARS, SPECIAL, FORMS, SELDOM = attention.SCALARS, attention.SPECIAL, attention.FORMS, attention.SELDOM
OUTPUTS = {"o": "float[queries, heads, dv]"}
WHERE = ("keys >= 1", "queries >= 1", "d >= 1")


def formula(N: System, q: Quantity, k: Quantity, v: Quantity, cu_q: Reals, cu_k: Reals, scale: Quantity) -> Quantity:
    shapes = np.stack([np.diff(cu_q), np.diff(cu_k)], axis=1)
    parts = []
    for rows, keys in np.unique(shapes, axis=0).tolist():
        mine = np.flatnonzero((shapes == (rows, keys)).all(axis=1))
        places = cu_q[mine][:, None] + np.arange(rows)
        seen = (cu_k[mine][:, None] + np.arange(max(keys, 1))) * (keys > 0)
        if rows:
            parts.append(
                PartOfRows(partial(of_sequences, N, (q, k, v), (places, seen), scale, keys), by_row, places.ravel())
            )
    return put_in_order(N, parts)


def of_sequences(
    N: System, x: tuple[Quantity, Quantity, Quantity], places: tuple[Reals, Reals], scale: Quantity, keys: int
) -> Quantity:
    """The attention of sequences of one shape, as [sequences, heads, rows, dv]."""
    (q, k, v), (rows, seen) = x, places
    return attend(N, by_head(q, rows), by_head(k, seen), by_head(v, seen), scale, keys)


def by_row(x: Reals) -> Reals:
    """[sequences, heads, rows, dv] as [queries, heads, dv]."""
    return x.transpose(0, 2, 1, 3).reshape(-1, x.shape[1], x.shape[3])


def by_head(x: Quantity, places: Reals) -> Quantity:
    """The rows of sequences as [sequences, heads, length, d]."""
    return rows_of(x, places).permuted((0, 2, 1, 3))


def attend(N: System, q: Quantity, k: Quantity, v: Quantity, scale: Quantity, keys: int) -> Quantity:
    """Attention; without a key, over one key that is masked."""
    if keys:
        return attention.formula(N, q, k, v, scale)
    none = np.zeros((1,), np.bool_)
    s = N.where(none, N.matmul(q, k.T, "qk") * scale, -N.inf)
    return N.average(N.exp(s - N.shift(s)), N.where(none, v, 0.0), sums=("pv", "row"))

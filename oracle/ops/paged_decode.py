"""paged_decode: attention of one query for each sequence over the pages of a cache.

The pages of sequence b are pages[first[b]] to below pages[first[b + 1]], and its last page holds last[b] keys. What
else lies in that page, and in pages that no sequence lists, must not matter. A sequence without a page gives zero, or
NaN.
"""

from functools import partial

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.ops import attention
from kfuzz.oracle.ops.varlen_attention import attend, by_head
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.segments import PartOfRows, put_in_order

INPUTS = {
    "q": "float[batch, heads, d]",
    "k": "float[slots, page, heads, d]",
    "v": "float[slots, page, heads, dv]",
    "first": "int[batch + 1] rises 0..used",
    "pages": "int[used] < slots",
    "last": "int[batch] 1..page",
}
SCALARS, SPECIAL, FORMS, SELDOM = attention.SCALARS, attention.SPECIAL, attention.FORMS, attention.SELDOM
OUTPUTS = {"o": "float[batch, heads, dv]"}
WHERE = ("slots >= 1", "page >= 1", "d >= 1")


def formula(
    N: System, q: Quantity, k: Quantity, v: Quantity, first: Reals, pages: Reals, last: Reals, scale: Quantity
) -> Quantity:
    page, heads = k.shape[1], k.shape[2]
    used = np.diff(first)
    lengths = np.where(used > 0, (used - 1) * page + last, 0)
    keys, values = (x.reshaped(x.shape[0] * page, heads, x.shape[3]) for x in (k, v))
    parts = []
    for length in np.unique(lengths).tolist():
        mine, at = np.flatnonzero(lengths == length), np.arange(max(length, 1))
        slot = pages[first[mine][:, None] + at // page] if length else np.zeros((len(mine), 1), np.int64)
        seen = slot * page + at % page
        asked = q[mine].reshaped(len(mine), heads, 1, q.shape[2])
        make = partial(attend_to, N, asked, (keys, values), seen, scale, length)
        parts.append(PartOfRows(make, lambda x: x[:, :, 0], mine))
    return put_in_order(N, parts)


def attend_to(
    N: System, q: Quantity, cache: tuple[Quantity, Quantity], seen: Reals, scale: Quantity, length: int
) -> Quantity:  # fmt: skip
    """The attention of sequences of one length, as [sequences, heads, 1, dv]."""
    k, v = (by_head(x, seen) for x in cache)
    return attend(N, q, k, v, scale, length)

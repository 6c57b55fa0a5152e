"""cache_append: x / scale on the grid of a cache is written to the slot of each token; all other slots stay.

What two tokens write to one slot is not judged.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[tokens, dim]", "slot": "int[tokens] < slots", "scale": "float[1]", "cache": "grid[slots, dim]"}
OUTPUTS = {"cache": "grid[slots, dim]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, slot: Reals, scale: Quantity, cache: Quantity) -> Quantity:
    tokens, slots = x.shape[0], cache.shape[0]
    writers = np.bincount(slot, minlength=slots)[:, None]
    owner = np.zeros(slots, dtype=np.intp)
    owner[slot] = np.arange(tokens)
    q = N.quantize(N.groups(x, x.shape[1], tokens), scale.reshaped(1, 1), "cache")
    made = N.where(writers > 0, q[owner], cache) if tokens else cache
    return N.where(writers > 1, N.unknown("slots to which two tokens are written", *cache.shape), made)

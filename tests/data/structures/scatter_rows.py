"""scatter_rows: row i of x is put in slot[i] of y; other slots keep their rows. No slot is named twice."""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[n, cols]", "slot": "int[n] distinct < slots", "into": "float[slots, cols]"}
OUTPUTS = {"y": "float[slots, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, slot: Reals, into: Quantity) -> Quantity:
    names = np.zeros(into.shape[0], np.int64)
    names[slot] = np.arange(len(slot)) + 1
    return N.where((names > 0)[:, None], x[names - 1], into) if len(slot) else into

"""embedding_bag: y[b] is the sum of the rows w[index[i]], for i from offsets[b] to below offsets[b + 1].

An index of -1 adds nothing; a bag of no rows gives 0.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.segments import each_segment

INPUTS = {"index": "int[n] < rows or -1", "offsets": "int[bags + 1] rises 0..n", "w": "float[rows, cols]"}
OUTPUTS = {"y": "float[bags, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, index: Reals, offsets: Reals, w: Quantity) -> Quantity:
    there = np.flatnonzero(index >= 0)
    bounds, cols = np.searchsorted(there, offsets), w.shape[1]

    def add_up(bags: Reals, places: Reals) -> Quantity:
        rows = w[index[there[places.ravel()]]].reshaped(*places.shape, cols)
        return N.sum(rows, "sum", axis=-2).reshaped(len(bags), cols)

    return each_segment(N, bounds, add_up)

"""part_sums: the sums of groups of rows; group g has sizes[g] rows, and they lie one after another."""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[total, cols]", "sizes": "int[groups] adds up to total"}
OUTPUTS = {"y": "float[groups, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, sizes: Reals) -> Quantity:
    ends = np.cumsum(sizes)
    sums = [N.sum(x[end - size : end], "sum", axis=-2) for size, end in zip(sizes, ends, strict=True)]
    return N.join(*sums, axis=0)

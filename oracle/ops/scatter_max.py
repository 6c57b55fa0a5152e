"""scatter_max: y = into, and at [i, index[i, j, k], k] the maximum of it and of every values[i, j, k], exactly."""

import numpy as np

from kfuzz.oracle.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "into": "float[outer, cols, inner]", "index": "int[outer, n, inner] < cols", "values": "float[outer, n, inner]",
}  # fmt: skip
OPTIONAL = {"outer": 1, "inner": 1}
OUTPUTS = {"y": "float[outer, cols, inner]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, into: Quantity, index: Reals, values: Quantity) -> Quantity:
    y = into
    for source in sources(index, N.size("cols")):
        y = N.maximum(y, N.where(source >= 0, N.take(values, np.maximum(source, 0), axis=-2), -N.inf))
    return y


def sources(index: Reals, cols: int) -> list[Reals]:
    """For each place a first value that goes there, a second one, and so on; -1 where there is none."""
    outer, n, inner = index.shape
    found: list[Reals] = []
    counts = np.zeros((outer, cols, inner), dtype=np.int64)
    lead, last = np.indices((outer, inner))
    for j in range(n):
        at = (lead, index[:, j], last)
        for rank in np.unique(counts[at]):
            if rank == len(found):
                found.append(np.full((outer, cols, inner), -1))
            is_here = counts[at] == rank
            found[rank][tuple(part[is_here] for part in at)] = j
        counts[at] += 1
    return found

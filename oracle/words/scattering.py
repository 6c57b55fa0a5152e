"""Several values that go to one place, one after the other. Knows words; it knows no number system."""

from collections.abc import Iterator

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System


def one_by_one(N: System, index: Reals, values: Quantity, nothing: float) -> Iterator[Quantity]:
    """For each place of the axis before the last a first value that goes there, a second one, and so on, or nothing."""
    for source in sources(index, N.size("cols")):
        yield N.where(source >= 0, N.take(values, np.maximum(source, 0), axis=-2), nothing)


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

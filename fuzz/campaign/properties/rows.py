"""The rows of a case, for ops whose rows have answers of their own: how many there are, and other batches of them.

Knows cases and roles; it does not know what is compared.
"""

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import Case, case_for
from kfuzz.claims.kernel import Kernel

RowsOfBatch = NDArray[np.intp]
"""For each row of another batch, the row of the trial's case that it is."""


def count_rows(kernel: Kernel, case: Case) -> int:
    """The number of rows of a case."""
    return next(int(case.arrays[role].shape[axis]) for role, axis in kernel.roles.cut.items() if role in case.arrays)


def with_rows(kernel: Kernel, case: Case, rows: RowsOfBatch) -> Case:
    """The case with these of its rows."""
    cut = kernel.roles.cut
    arrays = {role: one.take(rows, axis=cut[role]) if role in cut else one for role, one in case.arrays.items()}
    return case_for(kernel, arrays, case.dimensions)

"""row_sum: y = sum_j x_j, row by row, by IEEE's rules for infinities.

-inf stays -inf. NaN and +inf are unclaimed by default. Overflow is not judged where the order of additions decides it.
"""

from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
diagnose = diagnosis.diagnose


def formula(N: System, x: Quantity) -> Quantity:
    return N.sum(x, "sum")

"""sgemm: C = A B by IEEE's rules: 0 * inf is NaN, infinities of both signs give NaN, infinities of one sign win.

+-inf and NaN are claimed by default. Overflow is not judged where the order of additions decides it.
"""

from kfuzz.oracle.diagnosis import matrix as diagnosis
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[m, k]", "b": "float[k, n]"}
OUTPUTS = {"c": "float[m, n]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
diagnose = diagnosis.diagnose


def formula(N: System, a: Quantity, b: Quantity) -> Quantity:
    return N.matmul(a, b, "k")

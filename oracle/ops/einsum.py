"""einsum: the sum over all dimensions that the answer does not have, of the product of one to four arrays.

A claim names its subscript, as in `op = "einsum(bik,bkj->bij)"`: each letter is a dimension, the arrays are a, b, c and
d in their order, and the answer is y. `einsum` alone is `einsum(ik,kj->ij)`. An array may be summed by itself before it
is multiplied, and more than two may be contracted in pairs, or at once: these are forms.
"""

from kfuzz.oracle.op.subscripts import einsum, op_of_subscript
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[i, k]", "b": "float[k, j]"}
OUTPUTS = {"y": "float[i, j]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
spell = op_of_subscript


def formula(N: System, a: Quantity, b: Quantity) -> Quantity:
    return einsum(N, "ik,kj->ij", a, b)

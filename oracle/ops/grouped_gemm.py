"""grouped_gemm: the rows of a from offsets[g] to below offsets[g + 1] times matrix g of b, as in a MoE layer."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.segments import each_element, rows_of

INPUTS = {"a": "float[total, k]", "b": "float[groups, k, n]", "offsets": "int[groups + 1] rises 0..total"}
OUTPUTS = {"c": "float[total, n]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, a: Quantity, b: Quantity, offsets: Reals) -> Quantity:
    return each_element(N, offsets, lambda groups, places: N.matmul(rows_of(a, places), b[groups], "dot"))

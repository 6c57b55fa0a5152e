"""segment_softmax: the softmax of each segment of a vector, from offsets[b] to below offsets[b + 1]."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.ops import softmax
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.segments import each_element, rows_of

INPUTS = {"x": "float[total]", "offsets": "int[batch + 1] rises 0..total"}
OUTPUTS = {"y": "float[total]"}
FORMS, SELDOM = softmax.FORMS, softmax.SELDOM


def formula(N: System, x: Quantity, offsets: Reals) -> Quantity:
    return each_element(N, offsets, lambda _, places: softmax.formula(N, rows_of(x, places)))

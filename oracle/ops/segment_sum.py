"""segment_sum: y[b] is the sum of the rows of x from offsets[b] to below offsets[b + 1]; of no rows it is 0."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.segments import each_segment, rows_of

INPUTS = {"x": "float[total, cols]", "offsets": "int[batch + 1] rises 0..total"}
OUTPUTS = {"y": "float[batch, cols]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity, offsets: Reals) -> Quantity:
    cols = x.shape[1]
    return each_segment(
        N, offsets, lambda segments, places: N.sum(rows_of(x, places), "sum", axis=-2).reshaped(len(segments), cols)
    )

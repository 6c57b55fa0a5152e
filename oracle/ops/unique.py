"""unique: the different elements of each row, the least first, and how many there are.

What lies after the last of them is not judged. The two zeros are equal. Rows with NaN are not judged, nor, where
denormals are flushed, rows that have some.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import F32, values
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Floats, Mask
from kfuzz.oracle.numbers.verdict import Reason, Special, Why
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.sampling import refuse_balls
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"values": "float[rows, cols]", "count": "int[rows]"}


def formula(N: Exact, x: Quantity) -> dict[str, Quantity]:
    ordered = np.sort(np.asarray(x.x, np.float64), axis=-1)
    is_new = np.concatenate([np.ones_like(ordered[:, :1], np.bool_), ordered[:, 1:] != ordered[:, :-1]], axis=-1)
    places = np.argsort(~is_new, axis=-1, kind="stable")
    return {
        "values": N.value(np.take_along_axis(ordered, places, axis=-1)),
        "count": N.value(is_new.sum(axis=-1, keepdims=True)),
    }


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """Both are exact: each value once, in order, and their number."""
    x = values(inputs["x"])
    found = formula(Exact(sizes), Exact(sizes).value(x))
    count = found["count"].x[:, 0].astype(np.float64)
    has_nan, has_low = np.isnan(x).any(axis=-1), accuracy.ftz & ((x != 0) & (np.abs(x) < F32.min_normal)).any(axis=-1)
    judged, there = ~(has_nan | has_low), np.arange(x.shape[1]) < count[:, None]
    reasons: tuple[Reason, ...] = (Reason(Why.NAN, int(has_nan.sum())),) if has_nan.any() else ()
    if has_low.any():
        reasons += (Reason(Why.UNKNOWN, int(has_low.sum()), "rows with denormals, which may be taken for zeros"),)

    def exact(want: Doubles, mask: Mask) -> Enclosure:
        none = np.zeros(want.shape)
        return Enclosure(want, want, want, mask, none, none, refuse_balls, None, reasons, holds=lambda got: got == want)

    return {
        "values": exact(np.where(there, found["values"].x, 0.0), judged[:, None] & there),
        "count": exact(count, judged),
    }

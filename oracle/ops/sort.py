"""sort: the elements of each row, the least first, and their places; both exactly, so that no element is lost.

Equal elements may come in any order, each place once; `ties = "first"` is a stable sort, and `"last"` its opposite. The
two zeros are equal. NaN is unclaimed by default; if claimed, it comes last, as in torch and numpy.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.ranks import Ranking, enclose_places, enclose_values, order_places
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"values": "float[rows, cols]", "indices": "int[rows, cols]"}


def formula(N: Exact, x: Quantity) -> dict[str, Quantity]:
    places = order_places(x.x, "last")[:, ::-1]
    return {"values": N.value(np.take_along_axis(x.x, places, axis=-1)), "indices": N.value(places)}


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """The right answers are the value of each rank and the places of elements that have it."""
    ranking = Ranking.ascending("sort", inputs["x"], special, accuracy.ftz)
    return {"values": enclose_values(ranking), "indices": enclose_places(ranking)}

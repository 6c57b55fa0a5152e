"""top_k: the k greatest elements of each row, the greatest first, and their places; both exactly.

The answer's length is k. Equal elements may come in any order, each place once; `ties = "first"` or `"last"` fixes the
order. NaN is unclaimed by default; if claimed, it counts as the greatest, as in torch, and under "ignore" as less than
any number. If a row has fewer than k elements, the rest of its answer is not judged.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.diagnosis import ranks as diagnosis
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.ranks import Ranking, enclose_places, enclose_values, order_places
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"values": "float[rows, k]", "indices": "int[rows, k]"}
IGNORES_NAN = True
diagnose = diagnosis.diagnose


def formula(N: Exact, x: Quantity) -> dict[str, Quantity]:
    places = order_places(x.x, "first")
    return {"values": N.value(np.take_along_axis(x.x, places, axis=-1)), "indices": N.value(places)}


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """The right answers are the value of each rank and the places of elements that have it."""
    ranking = Ranking.from_input("top_k", inputs["x"], sizes.get("k"), special, accuracy.ftz)
    return {"values": enclose_values(ranking), "indices": enclose_places(ranking)}

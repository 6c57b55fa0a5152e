"""top_k: the k greatest elements of each row, the greatest first, and where each of them stands; both exactly.

k is as many as the answer has. Of equal elements any may be named, each place once; `ties = "first"` or `"last"` says
in which order. NaN is unclaimed by default; claimed, it counts as the greatest, as in torch; under "ignore" as less
than any number. Where a row has fewer than k elements, the rest of its answer is not judged.
"""

from collections.abc import Mapping

from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import places as diagnosis
from kfuzz.oracle.enclosure import Enclosure
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.places import Ranking, enclose_places, enclose_values
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.verdict import Special

INPUTS = {"x": ("rows", "cols")}
OUTPUTS = {"values": ("rows", "k"), "indices": ("rows", "k")}
INTEGERS = ("indices",)
ANY_FLOAT = True
VECTOR = True
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system: all elements in order, the first of equals first."""
    values, indices = algorithms.ranked(N, inputs["x"])
    return {"values": values, "indices": indices}


def enclose(
    inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, k: int | None = None
) -> dict[str, Enclosure]:
    """The value of each rank, and the places that may be named for it; of every rank where no k is given."""
    ranking = Ranking.of("top_k", inputs["x"], k, special, accuracy.ftz)
    return {"values": enclose_values(ranking), "indices": enclose_places(ranking)}

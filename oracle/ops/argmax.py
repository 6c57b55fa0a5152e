"""argmax: index[i] is where row i has its greatest element, exactly; of equal ones any, unless a claim says which.

`ties = "first"` or `"last"` says which of equal elements is meant. A zero equals the other zero. All -inf is a row of
equals. NaN is unclaimed by default; claimed, it counts as the greatest, as in torch and numpy; under "ignore" as less
than any number.
"""

from collections.abc import Mapping

from kfuzz.oracle import algorithms
from kfuzz.oracle.diagnosis import places as diagnosis
from kfuzz.oracle.enclosure import Enclosure
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.op import Floats
from kfuzz.oracle.places import Ranking, enclose_places
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.verdict import Special

INPUTS = {"x": ("rows", "cols")}
OUTPUTS = {"index": ("rows",)}
INTEGERS = ("index",)
ANY_FLOAT = True
VECTOR = True
diagnose = diagnosis.diagnose


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system: the first of equals."""
    return {"index": algorithms.argmax(N, inputs["x"])}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """The set of places where the greatest element stands, as far as ties are left open."""
    ranking = Ranking.of("argmax", inputs["x"], 1, special, accuracy.ftz)
    return {"index": enclose_places(ranking, of_rows=True)}

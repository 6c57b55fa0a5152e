"""argmax: index[i] is where row i has its greatest element, exactly; of equal ones any, unless a claim says which.

`ties = "first"` or `"last"` says which of equal elements is meant. A zero equals the other zero. All -inf is a row of
equals. NaN is unclaimed by default; claimed, it counts as the greatest, as in torch and numpy; under "ignore" as less
than any number.
"""

from collections.abc import Mapping

from kfuzz.oracle.diagnosis import places as diagnosis
from kfuzz.oracle.enclosure import Enclosure, Floats
from kfuzz.oracle.places import Ranking, enclose_places, order_places
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.shapes import Lengths
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity
from kfuzz.oracle.verdict import Special

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"index": "int[rows]"}
diagnose = diagnosis.diagnose


def formula(N: Exact, x: Quantity) -> Quantity:
    return N.value(order_places(x.x, "first")[:, :1])


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """The set of places where the greatest element stands, as far as ties are left open."""
    ranking = Ranking.from_input("argmax", inputs["x"], 1, special, accuracy.ftz)
    return {"index": enclose_places(ranking, of_rows=True)}

"""argmax: index[i] is the exact place of the greatest element of row i; any of equal ones, unless a claim says which.

`ties = "first"` or `"last"` says which of equal elements is right. The two zeros are equal. All elements of an all -inf
row are equal. NaN is unclaimed by default; if claimed, it counts as the greatest, as in torch and numpy, and under
"ignore" as less than any number.
"""

from collections.abc import Mapping

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.diagnosis import ranks as diagnosis
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.ranks import Ranking, enclose_places, order_places
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"index": "int[rows]"}
IGNORES_NAN = True
diagnose = diagnosis.diagnose


def formula(N: Exact, x: Quantity) -> Quantity:
    return N.value(order_places(x.x, "first")[:, :1])


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """Every place of the greatest element is right, as far as the claim leaves ties open."""
    ranking = Ranking.from_input("argmax", inputs["x"], 1, special, accuracy.ftz)
    return {"index": enclose_places(ranking, of_rows=True)}

"""argsort: the places of the elements of each row, the least element first: a permutation of 0 to cols - 1.

Equal elements may come in any order, each place once; `ties = "first"` is a stable sort, and `"last"` its opposite. The
two zeros are equal. NaN is unclaimed by default; if claimed, it comes last, as in torch and numpy.
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
OUTPUTS = {"indices": "int[rows, cols]"}
diagnose = diagnosis.diagnose


def formula(N: Exact, x: Quantity) -> Quantity:
    return N.value(order_places(x.x, "last")[:, ::-1])


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """The right answers of each rank are the places of elements that have its value, each place once."""
    return {"indices": enclose_places(Ranking.ascending("argsort", inputs["x"], special, accuracy.ftz))}

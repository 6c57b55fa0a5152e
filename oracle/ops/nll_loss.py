"""nll_loss: -x at each row's label, times the label's weight; rows whose label is `ignore_index` do not count.

The mean is divided by the sum of the weights that count; the sum where `summed` is 1, each row where `each` is 1. No
label is ignored unless a claim gives `ignore_index`.
"""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import of_labels

INPUTS = {"x": "float[rows, cols]", "labels": "int[rows] < cols", "w": "float[cols]"}
OPTIONAL = {"w": 1.0}
OUTPUTS = {"loss": "float[rows ** each]"}
AXES = {"each": 0, "summed": 0, "ignore_index": "cols"}
WHERE = ("each <= 1", "summed <= 1", "cols >= 1")


def formula(N: System, x: Quantity, labels: Reals, w: Quantity) -> Quantity:
    return of_labels(N, -N.take(x, labels[:, None])[..., 0], labels, w)

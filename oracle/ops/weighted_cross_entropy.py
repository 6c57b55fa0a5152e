"""weighted_cross_entropy: as torch has it, with weights of classes, a label that is ignored, and smoothed labels.

The loss of a row is (1 - s) w_label l_label + s / cols sum_j w_j l_j, where l_j = log sum_k exp(x_k) - x_j and s is
`smoothing`. The mean is divided by the sum of the labels' weights; the sum where `summed` is 1, each row where `each`
is 1. No label is ignored unless a claim gives `ignore_index`.
"""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import log_probabilities, of_labels

INPUTS = {"x": "float[rows, cols]", "labels": "int[rows] < cols", "w": "float[cols]"}
OPTIONAL = {"w": 1.0}
SCALARS = {"smoothing": 0.0}
OUTPUTS = {"loss": "float[rows ** each]"}
AXES = {"each": 0, "summed": 0, "ignore_index": "cols"}
WHERE = ("each <= 1", "summed <= 1", "cols >= 1")
FORMS = ("log s - (x - m)", "lse - x")


def formula(N: System, x: Quantity, labels: Reals, w: Quantity, smoothing: Quantity) -> Quantity:
    logs = log_probabilities(N, x)
    smooth = None if smoothing.x == 0 else N.sum(-logs * w, "smooth")[..., 0] * (smoothing / N.size("cols"))
    return of_labels(N, -N.take(logs, labels[:, None])[..., 0], labels, w, smooth, 1.0 - smoothing)

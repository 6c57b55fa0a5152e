"""hinge_loss: the mean of max(0, 1 - x t); their sum where `summed` is 1, each of them where `each` is 1."""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced

INPUTS = {"x": "float[n]", "t": "float[n]"}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")


def formula(N: System, x: Quantity, t: Quantity) -> Quantity:
    return reduced(N, N.maximum(1.0 - x * t, 0.0))

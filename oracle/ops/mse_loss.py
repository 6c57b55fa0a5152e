"""mse_loss: the mean of (x - t)^2 over all elements; their sum where `summed` is 1, each of them where `each` is 1."""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced

INPUTS = {"x": "float[n]", "t": "float[n]"}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")


def formula(N: System, x: Quantity, t: Quantity) -> Quantity:
    d = x - t
    return reduced(N, d * d)

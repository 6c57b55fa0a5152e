"""huber_loss: the mean of d^2 / 2 where |d| = |x - t| is below delta, and of delta (|d| - delta / 2) elsewhere.

Their sum where `summed` is 1, each of them where `each` is 1.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import bent, reduced

INPUTS = {"x": "float[n]", "t": "float[n]"}
SCALARS = {"delta": 1.0}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")


def formula(N: System, x: Quantity, t: Quantity, delta: Quantity) -> Quantity:
    return reduced(N, bent(N, x - t, delta))

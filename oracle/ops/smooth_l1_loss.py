"""smooth_l1_loss: the mean of d^2 / (2 beta) where |d| = |x - t| is below beta, and of |d| - beta / 2 elsewhere.

Their sum where `summed` is 1, each of them where `each` is 1.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import bent, reduced

INPUTS = {"x": "float[n]", "t": "float[n]"}
SCALARS = {"beta": 1.0}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")


def formula(N: System, x: Quantity, t: Quantity, beta: Quantity) -> Quantity:
    return reduced(N, bent(N, x - t, beta) / beta)

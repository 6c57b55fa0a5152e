"""kl_div_loss: the mean of t (log t - x), of probabilities t and logarithms x; 0 where t is 0.

Their sum where `summed` is 1, each of them where `each` is 1.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced

INPUTS = {"x": "float[n]", "t": "float[n]"}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")
FORMS = ("t (log t - x)", "t log t - t x")


def formula(N: System, x: Quantity, t: Quantity) -> Quantity:
    is_zero = t.is_zero
    log = N.log(N.where(is_zero, 1.0, t))
    each = t * log - t * x if N.form == "t log t - t x" else t * (log - x)
    return reduced(N, N.where(is_zero, 0.0, each))

"""bce_loss: the mean of -(t log x + (1 - t) log(1 - x)), of logarithms that are kept above -100.

Their sum where `summed` is 1, each of them where `each` is 1.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced

INPUTS = {"x": "float[n]", "t": "float[n]"}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")
FORMS = ("log(1 - x)", "log1p(-x)")


def formula(N: System, x: Quantity, t: Quantity) -> Quantity:
    other = N.log1p(-x) if N.form == "log1p(-x)" else N.log(1.0 - x)
    return reduced(N, (t - 1.0) * N.maximum(other, -100.0) - t * N.maximum(N.log(x), -100.0))

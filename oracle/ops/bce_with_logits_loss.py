"""bce_with_logits_loss: the mean of (1 - t) x + log(1 + exp(-x)), in which a weight `p` multiplies the loss of t = 1.

With a weight it is (1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)). Their sum where `summed` is 1, each where `each` is 1.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced, softplus

INPUTS = {"x": "float[n]", "t": "float[n]"}
SCALARS = {"p": 1.0}
OUTPUTS = {"loss": "float[n ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1")


def formula(N: System, x: Quantity, t: Quantity, p: Quantity) -> Quantity:
    weight = 1.0 if p.is_one else 1.0 + (p - 1.0) * t
    return reduced(N, (1.0 - t) * x + weight * softplus(N, -x))

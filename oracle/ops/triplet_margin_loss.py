"""triplet_margin_loss: max(0, |a - p + eps| - |a - n + eps| + margin) for each row, by Euclidean distances.

The mean over the rows; their sum where `summed` is 1, each of them where `each` is 1.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced

INPUTS = {"anchor": "float[rows, cols]", "positive": "float[rows, cols]", "negative": "float[rows, cols]"}
SCALARS = {"margin": 1.0, "eps": 1e-6}
OUTPUTS = {"loss": "float[rows ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1", "cols >= 1")


def formula(
    N: System, anchor: Quantity, positive: Quantity, negative: Quantity, margin: Quantity, eps: Quantity
) -> Quantity:
    near, far = anchor - positive + eps, anchor - negative + eps
    distances = N.sqrt(N.dot(near, near, "near")) - N.sqrt(N.dot(far, far, "far"))
    return reduced(N, N.maximum(distances + margin, 0.0)[..., 0])

"""cosine_embedding_loss: 1 - cos(a, b) for each pair of rows with label 1, and max(0, cos(a, b) - margin) for others.

The mean over the rows; their sum where `summed` is 1, each of them where `each` is 1. Labels are 1, or 0 for -1.
"""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.losses import reduced

INPUTS = {"a": "float[rows, cols]", "b": "float[rows, cols]", "labels": "int[rows] < 2"}
SCALARS = {"margin": 0.0, "eps": 1e-12}
OUTPUTS = {"loss": "float[rows ** each]"}
AXES = {"each": 0, "summed": 0}
WHERE = ("each <= 1", "summed <= 1", "cols >= 1")
FORMS = ("root of the product", "product of roots")


def formula(N: System, a: Quantity, b: Quantity, labels: Reals, margin: Quantity, eps: Quantity) -> Quantity:
    of_a, of_b = N.dot(a, a, "a") + eps, N.dot(b, b, "b") + eps
    size = N.sqrt(of_a) * N.sqrt(of_b) if N.form == "product of roots" else N.sqrt(of_a * of_b)
    cosine = (N.dot(a, b, "ab") / size)[..., 0]
    return reduced(N, N.where(labels == 1, 1.0 - cosine, N.maximum(cosine - margin, 0.0)))

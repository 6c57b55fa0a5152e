"""categorical_from_uniform: the token at which the cumulated probabilities pass a given uniform number u.

The probabilities are softmax(logits / temperature). Where their sum is within rounding of u, the token before or after
it is right, too. A token of -inf never comes. Rows with NaN or +inf, or with nothing but -inf, are not judged.
"""

from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.sampling import find_tokens
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"logits": "float[rows, cols]", "u": "uniform[rows]"}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"temperature": 1.0}


def formula(N: Exact, logits: Quantity, u: Quantity, temperature: Quantity) -> Quantity:
    sums = N.running_sum(N.exp(logits / temperature), "running")
    return N.places(N.where(sums.x > u.x.reshape(-1, 1) * sums.x[:, -1:], 1.0, 0.0))


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """A token is right if the sum before it may be at most u, and the sum with it at least u."""
    return find_tokens(asked, asked.inputs["logits"], asked.inputs["u"])

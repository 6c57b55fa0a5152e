"""categorical: one token of each row, drawn with the probabilities softmax(logits / temperature).

The answers of two seeds, and of two rows, are drawn independently of each other. `random_bits`: of the uniform numbers
that a kernel draws with. A token of -inf never comes. Rows with NaN or +inf, or with nothing but -inf, are not judged.
"""

from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.ranks import order_places
from kfuzz.oracle.sets.sampling import FORMS, SELDOM, draw_tokens, keep_all
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

__all__ = ["FORMS", "INPUTS", "OUTPUTS", "SCALARS", "SELDOM", "formula", "sets"]
INPUTS = {"logits": "float[rows, cols]"}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"temperature": 1.0, "random_bits": 24.0}


def formula(N: Exact, logits: Quantity, temperature: Quantity, random_bits: Quantity) -> Quantity:
    return N.value(order_places(logits.x, "first")[:, :1])


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """Each token that is not -inf may come, with its probability; the formula gives the likeliest."""
    return draw_tokens(asked, asked.inputs["logits"], keep_all)

"""top_k_sampling: one token of each row, drawn among the k with the greatest logits, by their probabilities.

Of equal tokens at the k-th place any may be among them, and all of them. All else is as in `categorical`.
"""

from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.ranks import order_places
from kfuzz.oracle.sets.sampling import FORMS, SELDOM, draw_tokens, keep_top_k
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

__all__ = ["AXES", "FORMS", "INPUTS", "OUTPUTS", "SCALARS", "SELDOM", "formula", "sets"]
INPUTS = {"logits": "float[rows, cols]"}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"temperature": 1.0, "random_bits": 24.0}
AXES = {"k": 50}


def formula(N: Exact, logits: Quantity, temperature: Quantity, random_bits: Quantity) -> Quantity:
    return N.value(order_places(logits.x, "first")[:, :1])


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """A token may come if fewer than k others are certainly greater."""
    return draw_tokens(asked, asked.inputs["logits"], lambda w: keep_top_k(w, asked.sizes["k"]))

"""min_p_sampling: one token of each row, drawn among those with at least min_p of the greatest probability.

A token within rounding of this edge may come or not. All else is as in `categorical`.
"""

from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.ranks import order_places
from kfuzz.oracle.sets.sampling import FORMS, SELDOM, draw_tokens, keep_min_p
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

__all__ = ["FORMS", "INPUTS", "OUTPUTS", "SCALARS", "SELDOM", "formula", "sets"]
INPUTS = {"logits": "float[rows, cols]"}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"temperature": 1.0, "min_p": 0.1, "random_bits": 24.0}


def formula(N: Exact, logits: Quantity, temperature: Quantity, min_p: Quantity, random_bits: Quantity) -> Quantity:
    return N.value(order_places(logits.x, "first")[:, :1])


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """A token may come unless its probability is certainly below min_p of the greatest."""
    return draw_tokens(asked, asked.inputs["logits"], lambda w: keep_min_p(w, asked.scalars["min_p"]))

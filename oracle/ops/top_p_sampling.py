"""top_p_sampling: one token of each row, drawn among the fewest whose probabilities reach top_p (nucleus sampling).

Tokens are taken from the greatest on, until their sum is top_p or more. A token may come if the sum of those that are
certainly greater may be below top_p, in any order and with any rounding of the sum. All else is as in `categorical`.
"""

from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.ranks import order_places
from kfuzz.oracle.sets.sampling import FORMS, SELDOM, draw_tokens, keep_top_p
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

__all__ = ["FORMS", "INPUTS", "OUTPUTS", "SCALARS", "SELDOM", "formula", "sets"]
INPUTS = {"logits": "float[rows, cols]"}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"temperature": 1.0, "top_p": 0.9, "random_bits": 24.0}


def formula(N: Exact, logits: Quantity, temperature: Quantity, top_p: Quantity, random_bits: Quantity) -> Quantity:
    return N.value(order_places(logits.x, "first")[:, :1])


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """A token may come if those that are certainly greater do not certainly reach top_p."""
    return draw_tokens(asked, asked.inputs["logits"], lambda w: keep_top_p(w, asked.scalars["top_p"]))

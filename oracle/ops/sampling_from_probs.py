"""sampling_from_probs: one token of each row of probabilities, drawn among those that top_k and top_p leave.

First the top_k[row] greatest are kept, all of them if that is 0; then the fewest of these whose share of what is kept
reaches top_p[row], and always the greatest. Of equal tokens at an edge any may be kept. All else is as in
`categorical`.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.ranks import order_places
from kfuzz.oracle.sets.sampling import FORMS, SELDOM, Weights, chances_of, growth_of, keep_top_k_top_p, name_tokens
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

__all__ = ["FORMS", "INPUTS", "OPTIONAL", "OUTPUTS", "SCALARS", "SELDOM", "formula", "sets"]
INPUTS = {"probs": "share[rows, cols]", "top_k": "int[rows] 0..cols", "top_p": "uniform[rows]"}
OPTIONAL = {"top_k": 0, "top_p": 1}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"random_bits": 24.0}


def formula(N: Exact, probs: Quantity, top_k: Reals, top_p: Quantity, random_bits: Quantity) -> Quantity:
    return N.value(order_places(probs.x, "first")[:, :1])


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """A token may come if fewer than top_k are certainly greater, and these do not certainly reach top_p."""
    probs = asked.inputs["probs"]
    rows, cols = probs.shape
    weights = Weights(probs, probs, growth_of(asked.accuracy, cols))
    k = asked.inputs.get("top_k", np.zeros(rows, np.int64))
    kept = keep_top_k_top_p(weights, np.where(k > 0, k, cols), asked.inputs.get("top_p", np.ones(rows)))
    return {"token": name_tokens(asked, probs, kept.may, lambda: chances_of(asked, weights, kept))}

"""gru: r, z = sigmoid(W x + b + U h + c), n = tanh(W x + b + r (U h + c)), h' = (1 - z) n + z h, for each step.

The three parts of the weights are reset, update and new, as torch has them. y has the state after each step.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.recurrent import gru_step

INPUTS = {
    "x": "float[rows, steps, features]", "h0": "float[rows, hidden]",
    "w_ih": "float[3, hidden, features]", "w_hh": "float[3, hidden, hidden]",
    "b_ih": "float[3, hidden]", "b_hh": "float[3, hidden]",
}  # fmt: skip
OPTIONAL = {"b_ih": 0.0, "b_hh": 0.0}
OUTPUTS = {"y": "float[rows, steps, hidden]", "h": "float[rows, hidden]"}
WHERE = ("steps >= 1", "features >= 1", "hidden >= 1")
FORMS = ("n + z (h - n)", "(1 - z) n + z h")


def formula(
    N: System, x: Quantity, h0: Quantity, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> dict[str, Quantity]:
    many = 3 * N.size("hidden")
    weights = (w_ih.reshaped(many, -1), w_hh.reshaped(many, -1), b_ih.reshaped(many), b_hh.reshaped(many))
    (h,), (y,) = N.steps(gru_step(N, *weights), (h0,), x)
    return {"y": y, "h": h}

"""lstm: c' = sigmoid(f) c + sigmoid(i) tanh(g) and h' = sigmoid(o) tanh(c'), with i, f, g, o = W x + b + U h + d.

The four parts of the weights are input, forget, cell and output gate, as torch has them. y has h after each step.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.recurrent import lstm_step

INPUTS = {
    "x": "float[rows, steps, features]", "h0": "float[rows, hidden]", "c0": "float[rows, hidden]",
    "w_ih": "float[4, hidden, features]", "w_hh": "float[4, hidden, hidden]",
    "b_ih": "float[4, hidden]", "b_hh": "float[4, hidden]",
}  # fmt: skip
OPTIONAL = {"b_ih": 0.0, "b_hh": 0.0}
OUTPUTS = {"y": "float[rows, steps, hidden]", "h": "float[rows, hidden]", "c": "float[rows, hidden]"}
WHERE = ("steps >= 1", "features >= 1", "hidden >= 1")


def formula(
    N: System, x: Quantity, h0: Quantity, c0: Quantity, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> dict[str, Quantity]:
    many = 4 * N.size("hidden")
    weights = (w_ih.reshaped(many, -1), w_hh.reshaped(many, -1), b_ih.reshaped(many), b_hh.reshaped(many))
    (h, c), (y, _) = N.steps(lstm_step(N, *weights), (h0, c0), x)
    return {"y": y, "h": h, "c": c}

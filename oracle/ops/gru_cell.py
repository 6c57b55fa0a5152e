"""gru_cell: one step of a gated recurrent unit, as torch has it: h = (1 - z) n + z h.

r and z are sigmoids of w x + w h + biases, and n = tanh(w x + b + r (w h + b)): the reset multiplies the product with h
and its bias. The gates lie in the order r, z, n. The new state may also be n + z (h - n).
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.recurrent import gru_step

INPUTS = {
    "x": "float[rows, d]", "h": "float[rows, hidden]",
    "w_ih": "float[3, hidden, d]", "w_hh": "float[3, hidden, hidden]",
    "b_ih": "float[3, hidden]", "b_hh": "float[3, hidden]",
}  # fmt: skip
OPTIONAL = {"b_ih": 0.0, "b_hh": 0.0}
OUTPUTS = {"y": "float[rows, hidden]"}
WHERE = ("hidden >= 1", "d >= 1")
FORMS = ("n + z (h - n)", "(1 - z) n + z h")


def formula(
    N: System, x: Quantity, h: Quantity, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> Quantity:
    many = 3 * N.size("hidden")
    weights = (w_ih.reshaped(many, -1), w_hh.reshaped(many, -1), b_ih.reshaped(many), b_hh.reshaped(many))
    return gru_step(N, *weights)(x, h)[0]

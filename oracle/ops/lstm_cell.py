"""lstm_cell: one step of a long short-term memory, as torch has it: c = f c + i g, and h = o tanh(c).

i, f and o are sigmoids and g is a tanh of w x + w h + biases; the gates lie in the order i, f, g, o.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.recurrent import lstm_step

INPUTS = {
    "x": "float[rows, d]", "h": "float[rows, hidden]", "c": "float[rows, hidden]",
    "w_ih": "float[4, hidden, d]", "w_hh": "float[4, hidden, hidden]",
    "b_ih": "float[4, hidden]", "b_hh": "float[4, hidden]",
}  # fmt: skip
OPTIONAL = {"b_ih": 0.0, "b_hh": 0.0}
OUTPUTS = {"h": "float[rows, hidden]", "c": "float[rows, hidden]"}
WHERE = ("hidden >= 1", "d >= 1")


def formula(
    N: System, x: Quantity, h: Quantity, c: Quantity, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> dict[str, Quantity]:
    many = 4 * N.size("hidden")
    weights = (w_ih.reshaped(many, -1), w_hh.reshaped(many, -1), b_ih.reshaped(many), b_hh.reshaped(many))
    h, c = lstm_step(N, *weights)(x, h, c)
    return {"h": h, "c": c}

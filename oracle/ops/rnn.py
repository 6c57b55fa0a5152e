"""rnn: h' = tanh(W x + b + U h + c), for each step; y has the state after each step."""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.recurrent import rnn_step

INPUTS = {
    "x": "float[rows, steps, features]", "h0": "float[rows, hidden]", "w_ih": "float[hidden, features]",
    "w_hh": "float[hidden, hidden]", "b_ih": "float[hidden]", "b_hh": "float[hidden]",
}  # fmt: skip
OPTIONAL = {"b_ih": 0.0, "b_hh": 0.0}
OUTPUTS = {"y": "float[rows, steps, hidden]", "h": "float[rows, hidden]"}
WHERE = ("steps >= 1", "features >= 1", "hidden >= 1")


def formula(
    N: System, x: Quantity, h0: Quantity, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> dict[str, Quantity]:
    (h,), (y,) = N.steps(rnn_step(N, w_ih, w_hh, b_ih, b_hh), (h0,), x)
    return {"y": y, "h": h}

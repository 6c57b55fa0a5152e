"""gru_cell: one step of a gated recurrent unit, as torch has it: h = (1 - z) n + z h.

r and z are sigmoids of w x + w h + biases, and n = tanh(w x + b + r (w h + b)): the reset multiplies the product with h
and its bias. The gates lie in the order r, z, n. The new state may also be n + z (h - n).
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "x": "float[rows, d]", "h": "float[rows, hidden]",
    "w_ih": "float[3, hidden, d]", "w_hh": "float[3, hidden, hidden]",
    "b_ih": "float[3, hidden]", "b_hh": "float[3, hidden]",
}  # fmt: skip
OPTIONAL = {"b_ih": 0.0, "b_hh": 0.0}
OUTPUTS = {"y": "float[rows, hidden]"}
WHERE = ("hidden >= 1", "d >= 1")
FORMS = ("(1 - z) n + z h", "n + z (h - n)")


def formula(
    N: System, x: Quantity, h: Quantity, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> Quantity:
    both = N.join(x, h)
    r, z = (N.sigmoid(N.matmul(both, N.join(w_ih[k], w_hh[k]).T, "gates", (b_ih[k], b_hh[k]))) for k in (0, 1))
    n = N.tanh(N.matmul(x, w_ih[2].T, "in", (b_ih[2],)) + r * N.matmul(h, w_hh[2].T, "hn", (b_hh[2],)))
    return n + z * (h - n) if N.form == "n + z (h - n)" else (1.0 - z) * n + z * h

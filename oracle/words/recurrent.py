"""Formulas of networks with a state: GRU, LSTM and the plain one. Knows words; it knows no number system.

A gate adds up products of the input and of the state. A kernel may add both in one sum or in two, so a formula has them
side by side in one product of matrices.
"""

from collections.abc import Callable, Mapping, Sequence

from kfuzz.oracle.systems.absent import Absent
from kfuzz.oracle.systems.value import Quantity, System

States = tuple[Quantity, ...]


def side(N: System, x: Quantity, h: Quantity) -> Quantity:
    """The input and the state of a step, side by side."""
    return N.join(x, h)


def gates(N: System, xh: Quantity, w: Quantity, biases: Sequence[Quantity], name: str) -> Quantity:
    """One sum for each element of some gates: w [elements, features and hidden]."""
    return N.matmul(xh, w.T, name, biases)


def gru_step(
    N: System, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> Callable[[Quantity, Quantity], States]:
    """h' = (1 - z) n + z h with n = tanh(W x + b + r (U h + c)): w_ih [3 hidden, features], reset, update, new."""
    hidden = w_hh.shape[-1]
    w = N.join(w_ih[: 2 * hidden], w_hh[: 2 * hidden])
    first = [b_ih[: 2 * hidden], b_hh[: 2 * hidden]]
    w_in, w_hn, b_in, b_hn = w_ih[2 * hidden :], w_hh[2 * hidden :], b_ih[2 * hidden :], b_hh[2 * hidden :]

    def step(x: Quantity, h: Quantity) -> States:
        both = N.sigmoid(gates(N, side(N, x, h), w, first, "gates"))
        r, z = both[..., :hidden], both[..., hidden:]
        new = N.tanh(N.matmul(x, w_in.T, "input", (b_in,)) + r * N.matmul(h, w_hn.T, "state", (b_hn,)))
        if "(1 - z) n + z h" in N.form:
            return (N.keep((1.0 - z) * new + z * h, "h"),)
        return (N.keep((h - new) * z + new, "h"),)

    return step


def lstm_step(
    N: System, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> Callable[[Quantity, Quantity, Quantity], States]:
    """c' = f c + i g and h' = o tanh(c'): w_ih [4 hidden, features], input, forget, cell and output gate."""
    hidden = w_hh.shape[-1]
    w, biases = N.join(w_ih, w_hh), [b_ih, b_hh]

    def step(x: Quantity, h: Quantity, c: Quantity) -> States:
        every = gates(N, side(N, x, h), w, biases, "gates")
        i, f, g, o = (every[..., place * hidden : (place + 1) * hidden] for place in range(4))
        after = N.keep(N.sigmoid(f) * c + N.sigmoid(i) * N.tanh(g), "c")
        return N.keep(N.sigmoid(o) * N.tanh(after), "h"), after

    return step


def rnn_step(
    N: System, w_ih: Quantity, w_hh: Quantity, b_ih: Quantity, b_hh: Quantity
) -> Callable[[Quantity, Quantity], States]:
    """h' = tanh(W x + b + U h + c)."""
    w, biases = N.join(w_ih, w_hh), [b_ih, b_hh]

    def step(x: Quantity, h: Quantity) -> States:
        return (N.keep(N.tanh(gates(N, side(N, x, h), w, biases, "gates")), "h"),)

    return step


STEPS: Mapping[str, Callable[..., Callable[..., States]]] = {"gru": gru_step, "lstm": lstm_step, "rnn_tanh": rnn_step}


def network(
    N: System, kind: str, x: Quantity, states: Sequence[Quantity], weights: Sequence[Quantity], has_biases: bool,
    layers: int, both_ways: bool, batch_first: bool, name: str = "network",
) -> list[Quantity]:  # fmt: skip
    """A network of torch: each layer's answers, of both directions side by side, are the input of the next one.

    states [layers and directions, rows, hidden]; the answers of the last layer, and each state after its last step.
    `name`: of all values that it may store in 16 bits; which of its sums are stored so is not known, and if some are,
    nothing is judged.
    """
    seen = x if batch_first else x.permuted((1, 0, 2))
    ways = 2 if both_ways else 1
    each = len(weights) // (layers * ways)
    last: list[list[Quantity]] = []
    for layer in range(layers):
        made: list[Quantity] = []
        for way in range(ways):
            number = layer * ways + way
            own = list(weights[number * each : (number + 1) * each])
            own += [Absent(N, 0.0)] * (0 if has_biases else 2)
            ended, every = N.steps(STEPS[kind](N, *own), [one[number] for one in states], seen, reverse=way == 1)
            last.append([one[None] for one in ended])
            made.append(every[0])
        seen = N.join(*made)
    after = []
    for several in zip(*last, strict=True):
        after.append(N.join(*several, axis=-3))
    answers = [N.keep(one, name) for one in (seen if batch_first else seen.permuted((1, 0, 2)), *after)]
    claim = getattr(N, "claim", None)
    if claim is not None and claim.narrow_format(name):
        return [N.unknown("of a network whose sums may be stored in 16 bits", *one.shape) for one in answers]
    return answers

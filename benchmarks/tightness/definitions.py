"""What ops compute, as textbooks define it, row by row over balls of 256 bits: nothing of it is shared with the oracle.

No shift is subtracted from an exponent, since a ball overflows nowhere. There are no forms, no roundings and no orders.
A row whose definition is no number, such as 0 / 0, has none.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

BITS = 256
Balls = list[arb]
Row = Mapping[str, Balls]
Scalars = Mapping[str, float]
Define = Callable[[Row, Scalars], Sequence[arb]]
"""The elements of one row of the answer, from one row of each input; an input without rows is given whole."""


def _softmax(row: Row, scalars: Scalars) -> Balls:
    e = [x.exp() for x in row["x"]]
    total = sum(e, arb(0))
    return [one / total for one in e]


def _log_sum(xs: Balls) -> arb:
    return sum((x.exp() for x in xs), arb(0)).log()


def _log_softmax(row: Row, scalars: Scalars) -> Balls:
    log_sum = _log_sum(row["x"])
    return [x - log_sum for x in row["x"]]


def _cross_entropy(row: Row, scalars: Scalars) -> Balls:
    (label,) = row["labels"]
    return [_log_sum(row["x"]) - row["x"][int(float(label))]]


def _softmax_backward(row: Row, scalars: Scalars) -> Balls:
    dot = sum((y * g for y, g in zip(row["y"], row["g"], strict=True)), arb(0))
    return [y * (g - dot) for y, g in zip(row["y"], row["g"], strict=True)]


def _rms_norm(row: Row, scalars: Scalars) -> Balls:
    mean = sum((x * x for x in row["x"]), arb(0)) / len(row["x"])
    root = (mean + scalars["eps"]).sqrt()
    return [x / root * w for x, w in zip(row["x"], row["w"], strict=True)]


def _layer_norm(row: Row, scalars: Scalars) -> Balls:
    xs = row["x"]
    mean = sum(xs, arb(0)) / len(xs)
    root = (sum(((x - mean) ** 2 for x in xs), arb(0)) / len(xs) + scalars["eps"]).sqrt()
    return [(x - mean) / root * w + b for x, w, b in zip(xs, row["w"], row["b"], strict=True)]


def _gelu(x: arb) -> arb:
    return x / 2 * (1 + (x / arb(2).sqrt()).erf())


def _gelu_tanh(x: arb) -> arb:
    return x / 2 * (1 + ((2 / arb.pi()).sqrt() * (x + arb("0.044715") * x**3)).tanh())


def _silu(x: arb) -> arb:
    return x / (1 + (-x).exp())


def _each(function: Callable[[arb], arb]) -> Define:
    return lambda row, scalars: [function(x) for x in row["x"]]


TO_BALLS = np.frompyfunc(arb, 1, 1)
DEFINITIONS: dict[str, Define] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": lambda row, scalars: [_log_sum(row["x"])],
    "cross_entropy": _cross_entropy,
    "softmax_backward": _softmax_backward,
    "row_sum": lambda row, scalars: [sum(row["x"], arb(0))],
    "prefix_sum": lambda row, scalars: list(accumulate(row["x"])),
    "rms_norm": _rms_norm,
    "layer_norm": _layer_norm,
    "gelu": _each(_gelu),
    "gelu_tanh": _each(_gelu_tanh),
    "silu": _each(_silu),
    "swiglu": lambda row, scalars: [_silu(a) * b for a, b in zip(row["a"], row["b"], strict=True)],
    "sgemm": lambda row, scalars: list((arb_mat([row["a"]]) * arb_mat(row["b"])).entries()),
}


def _is_known(x: arb) -> bool:
    """Whether the nearest float64 to a value follows from its ball: that of a difference may be wider than itself."""
    return bool(x.is_finite() and (x.is_exact() or x.rel_accuracy_bits() > 2 * 53))


def define(
    op: str, numbers: Mapping[str, NDArray[Any]], dimensions: Mapping[str, Sequence[str]], scalars: Scalars
) -> list[Balls]:
    """The rows of an op's one answer; a row is empty if one of its elements is no number, or is not known closely.

    `dimensions`: those of each input. The rows of the first input are those of the answer.
    """
    first = next(iter(numbers))
    lead = dimensions[first][0]
    balls = {name: TO_BALLS(np.asarray(array, dtype=np.float64)) for name, array in numbers.items()}
    made = []
    with ctx.workprec(BITS):
        for place in range(len(numbers[first])):
            row = {
                name: np.atleast_1d(array[place] if dimensions[name][0] == lead else array).tolist()
                for name, array in balls.items()
            }
            elements = list(DEFINITIONS[op](row, scalars))
            made.append(elements if all(map(_is_known, elements)) else [])
    return made

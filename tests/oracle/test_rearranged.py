"""Right algorithms that no form names are never broken, and what is beyond any rearrangement is."""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.bounds.rearranged import loosest_ends
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.judge import judge_op
from kfuzz.oracle.numbers.verdict import AnswerError, SuspectWarning, Verdict
from kfuzz.oracle.op.op import read_op

Any_ = Any
F = np.float32
Arrays = Mapping[str, Any_]
Inputs = Callable[[int, float, float], Arrays]
Algorithm = Callable[..., Any_]
ROWS, COLS = 24, 65
SETTINGS = ((1.0, 0.0), (8.0, 0.0), (1e-3, 0.0), (1.0, 10.0))
"""The scale and the offset of normal numbers."""
OUTPUT = {"attention": "o", "sgemm": "c", "softmax_backward": "dx"}


def in_sequence(x: Any_) -> Any_:
    """Sums along the last axis from left to right, in float32."""
    return np.cumsum(x, axis=-1, dtype=F)[..., -1]


def from_the_right(x: Any_) -> Any_:
    return in_sequence(x[..., ::-1])


def by_pairs(x: Any_) -> Any_:
    while x.shape[-1] > 1:
        odd = x[..., -1:] if x.shape[-1] % 2 else x[..., :0]
        x = np.concatenate([x[..., :-1:2][..., : x.shape[-1] // 2] + x[..., 1::2], odd], axis=-1)
    return x[..., 0]


def log_add(a: Any_, b: Any_) -> Any_:
    top, low = np.maximum(a, b), np.minimum(a, b)
    return top + np.log1p(np.exp(low - top))


def chain(x: Any_) -> Any_:
    held = x[..., 0]
    for k in range(1, x.shape[-1]):
        held = log_add(held, x[..., k])
    return held


def erfc(x: Any_) -> Any_:
    return np.vectorize(math.erfc)(x.astype(np.float64)).astype(F)


def erf(x: Any_) -> Any_:
    return np.vectorize(math.erf)(x.astype(np.float64)).astype(F)


def softmax_online(x: Any_) -> Any_:
    top, total = x[..., 0].copy(), np.ones(x.shape[:-1], F)
    for k in range(1, x.shape[-1]):
        new = np.maximum(top, x[..., k])
        total = total * np.exp(top - new) + np.exp(x[..., k] - new)
        top = new
    return np.exp(x - top[..., None]) / total[..., None]


def strassen(a: Any_, b: Any_) -> Any_:
    m, k, n = a.shape[0] // 2, a.shape[1] // 2, b.shape[1] // 2
    (a11, a12), (a21, a22) = (np.split(part, [k], axis=1) for part in np.split(a, [m], axis=0))
    (b11, b12), (b21, b22) = (np.split(part, [n], axis=1) for part in np.split(b, [k], axis=0))
    m1, m2, m3 = (a11 + a22) @ (b11 + b22), (a21 + a22) @ b11, a11 @ (b12 - b22)
    m4, m5, m6, m7 = a22 @ (b21 - b11), (a11 + a12) @ b22, (a21 - a11) @ (b11 + b12), (a12 - a22) @ (b21 + b22)
    return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])


def moments(x: Any_) -> tuple[Any_, Any_]:
    n = F(x.shape[-1])
    return in_sequence(x)[..., None] / n, in_sequence(x * x)[..., None] / n


def standard(x: Any_, eps: float = 1e-5) -> Any_:
    mean, squares = moments(x)
    return (x - mean) / np.sqrt(squares - mean * mean + F(eps))


def variance_by_pairs(x: Any_) -> Any_:
    n = x.shape[-1]
    off = x[..., :, None] - x[..., None, :]
    return in_sequence((off * off).reshape(*x.shape[:-1], -1)) / F(2 * n * n)


def attend(q: Any_, k: Any_, v: Any_, fold: bool, shifted: bool) -> Any_:
    scale = F(1 / np.sqrt(q.shape[-1]))
    s = (q * scale) @ k.swapaxes(-1, -2) if fold else (q @ k.swapaxes(-1, -2)) * scale
    e = np.exp(s - s.max(-1, keepdims=True)) if shifted else np.exp(s)
    return (e / e.sum(-1, keepdims=True, dtype=F)) @ v


def hillis_steele(x: Any_) -> Any_:
    step = 1
    while step < x.shape[-1]:
        x = np.concatenate([x[..., :step], x[..., step:] + x[..., :-step]], axis=-1)
        step *= 2
    return x


def blocked_scan(x: Any_) -> Any_:
    parts, carry = [], np.zeros((*x.shape[:-1], 1), F)
    for first in range(0, x.shape[-1], 8):
        own = np.cumsum(x[..., first : first + 8], axis=-1, dtype=F)
        parts.append(own + carry)
        carry = carry + own[..., -1:]
    return np.concatenate(parts, axis=-1)


def x(seed: int, scale: float, offset: float, cols: int = COLS) -> dict[str, Any_]:
    rng = np.random.default_rng(seed)
    return {"x": (rng.standard_normal((ROWS, cols)) * scale + offset).astype(F)}


def xw(seed: int, scale: float, offset: float) -> dict[str, Any_]:
    rng = np.random.default_rng(seed)
    return x(seed, scale, offset) | {"w": rng.standard_normal(COLS).astype(F)}


def xwb(seed: int, scale: float, offset: float) -> dict[str, Any_]:
    return xw(seed, scale, offset) | {"b": np.random.default_rng(seed).standard_normal(COLS).astype(F)}


def ab(seed: int, scale: float, offset: float) -> dict[str, Any_]:
    rng = np.random.default_rng(seed)
    return {n: (rng.standard_normal((24, 24)) * scale + offset).astype(F) for n in ("a", "b")}


def qkv(seed: int, scale: float, offset: float) -> dict[str, Any_]:
    rng = np.random.default_rng(seed)
    scale = min(scale, 3.0)
    return {n: (rng.standard_normal((2, 9, 8)) * scale + min(offset, 1.0)).astype(F) for n in ("q", "k", "v")}


def yg(seed: int, scale: float, offset: float) -> dict[str, Any_]:
    rng = np.random.default_rng(seed)
    e = np.exp(rng.standard_normal((ROWS, COLS)))
    return {
        "y": (e / e.sum(-1, keepdims=True)).astype(F),
        "g": (rng.standard_normal((ROWS, COLS)) * scale + offset).astype(F),
    }


def xw_image(seed: int, scale: float, offset: float) -> dict[str, Any_]:
    rng = np.random.default_rng(seed)
    x, w = ((rng.standard_normal(shape) * scale + offset).astype(F) for shape in ((2, 3, 7, 6), (4, 3, 3, 3)))
    return {"x": x, "w": w, "bias": np.zeros(4, F)}


def conv_by_rows(x: Any_, w: Any_, bias: Any_) -> Any_:
    """Each row of the window by itself, from the last one on."""
    made = np.zeros((2, 4, 5, 4), F)
    for row in (2, 1, 0):
        part = np.zeros((2, 4, 5, 4), F)
        for col in range(3):
            part = part + np.einsum("bchw,oc->bohw", x[:, :, row : row + 5, col : col + 4], w[:, :, row, col])
        made = made + part
    return made + bias[:, None, None]


INPUTS: dict[str, Inputs] = {
    "layer_norm": xwb,
    "rms_norm": xw,
    "sgemm": ab,
    "attention": qkv,
    "softmax_backward": yg,
    "conv2d": xw_image,
    "swiglu": lambda *s: {"a": x(*s)["x"], "b": x(s[0] + 1, *s[1:])["x"]},
}
"""What an op takes; the others take x."""


def judged_by(op: str, given: Arrays, algorithm: Algorithm, claim: Accuracy | None = None) -> Verdict:
    with np.errstate(all="ignore"):
        got = np.asarray(algorithm(**given), dtype=F)
    return judge(op, given, {OUTPUT.get(op, "y"): got}, claim)


RIGHT: dict[str, Algorithm] = {
    "row_sum: in sequence": in_sequence,
    "row_sum: from the right": from_the_right,
    "row_sum: by pairs": by_pairs,
    "mean: the first, and the mean distance from it": lambda x: (
        x[..., 0] + in_sequence(x - x[..., :1]) / F(x.shape[-1])
    ),
    "mean: two halves": lambda x: in_sequence(x[..., :32]) / F(x.shape[-1]) + in_sequence(x[..., 32:]) / F(x.shape[-1]),
    "softmax: no shift": lambda x: np.exp(x) / in_sequence(np.exp(x))[..., None],
    "softmax: 1 / sum of exp(x_j - x_i)": lambda x: 1 / in_sequence(np.exp(x[..., None, :] - x[..., :, None])),
    "softmax: exp of log_softmax": lambda x: np.exp(
        x - x.max(-1, keepdims=True) - np.log(in_sequence(np.exp(x - x.max(-1, keepdims=True))))[..., None]
    ),
    "softmax: exp2 of scaled": lambda x: (
        np.exp2((x - x.max(-1, keepdims=True)) * F(1.4426950408889634))
        / in_sequence(np.exp2((x - x.max(-1, keepdims=True)) * F(1.4426950408889634)))[..., None]
    ),
    "softmax: by logaddexp": lambda x: np.exp(x - chain(x)[..., None]),
    "softmax: online": softmax_online,
    "softmax: shifted by the mean": lambda x: (
        np.exp(x - x.mean(-1, keepdims=True, dtype=F))
        / in_sequence(np.exp(x - x.mean(-1, keepdims=True, dtype=F)))[..., None]
    ),
    "log_softmax: log of softmax": lambda x: np.log(softmax_online(x)),
    "log_softmax: by logaddexp": lambda x: x - chain(x)[..., None],
    "log_softmax: minus log of sum of exp(x_j - x_i)": lambda x: (
        -np.log(in_sequence(np.exp(x[..., None, :] - x[..., :, None])))
    ),
    "logsumexp: logaddexp chain": chain,
    "logsumexp: no shift": lambda x: np.log(in_sequence(np.exp(x))),
    "logsumexp: shifted by the first": lambda x: x[..., 0] + np.log(in_sequence(np.exp(x - x[..., :1]))),
    "gelu: erfc": lambda x: F(0.5) * x * erfc(-x * F(0.70710678)),
    "gelu: x - x erfc / 2": lambda x: x - F(0.5) * x * erfc(x * F(0.70710678)),
    "gelu: x / 2 + x erf / 2": lambda x: F(0.5) * x + F(0.5) * x * erf(x * F(0.70710678)),
    "silu: x - x / (1 + e^x)": lambda x: x - x / (1 + np.exp(x)),
    "silu: tanh": lambda x: F(0.5) * x * (1 + np.tanh(F(0.5) * x)),
    "gelu_tanh: x - x / (1 + e^2t)": lambda x: (
        x - x / (1 + np.exp(F(2 * 0.7978845608028654) * (x + F(0.044715) * x**3)))
    ),
    "variance: by pairs": variance_by_pairs,
    "variance: moments": lambda x: moments(x)[1][..., 0] - moments(x)[0][..., 0] ** 2,
    "variance: shifted by the first": lambda x: (
        moments(x - x[..., :1])[1][..., 0] - moments(x - x[..., :1])[0][..., 0] ** 2
    ),
    "layer_norm: n x - sum x": lambda x, w, b: (
        (F(COLS) * x - in_sequence(x)[..., None])
        / np.sqrt(
            F(COLS) * in_sequence((x - x.mean(-1, keepdims=True, dtype=F)) ** 2)[..., None] + F(COLS * COLS * 1e-5)
        )
        * w
        + b
    ),
    "layer_norm: moments": lambda x, w, b: standard(x) * w + b,
    "layer_norm: of standardized rows": lambda x, w, b: (
        ((x - moments(x)[0]) * w) / np.sqrt(variance_by_pairs(x) + F(1e-5))[..., None] + b
    ),
    "rms_norm: sqrt n / length": lambda x, w: (
        x * w * np.sqrt(F(COLS)) / np.sqrt(in_sequence(x * x) + F(COLS * 1e-6))[..., None]
    ),
    "rms_norm: w over the root": lambda x, w: x * (w / np.sqrt(in_sequence(x * x)[..., None] / F(COLS) + F(1e-6))),
    "l2_norm: scaled by the largest": lambda x: (
        np.abs(x).max(-1) * np.sqrt(in_sequence((x / np.abs(x).max(-1, keepdims=True)) ** 2))
    ),
    "l2_norm: hypot chain": lambda x: np.hypot.accumulate(x, axis=-1)[..., -1],
    "sgemm: Strassen": strassen,
    "sgemm: two halves": lambda a, b: a[:, :12] @ b[:12] + a[:, 12:] @ b[12:],
    "attention: no shift": lambda q, k, v: attend(q, k, v, fold=False, shifted=False),
    "attention: scale in q, divided first": lambda q, k, v: attend(q, k, v, fold=True, shifted=True),
    "prefix_sum: Hillis and Steele": hillis_steele,
    "prefix_sum: blocks with a carry": blocked_scan,
    "softmax_backward: sum of y_j (g_i - g_j)": lambda y, g: (
        y * in_sequence(y[..., None, :] * (g[..., :, None] - g[..., None, :]))
    ),
    "conv2d: by rows of the window": conv_by_rows,
    "swiglu: b x - b x / (1 + e^x)": lambda a, b: (a - a / (1 + np.exp(a))) * b,
}


@pytest.mark.parametrize("way", RIGHT)
def test_a_right_algorithm_that_no_form_names_is_not_broken(way: str) -> None:
    op = way.partition(":")[0]
    for seed, (scale, offset) in enumerate(SETTINGS):
        verdict = judged_by(op, INPUTS.get(op, x)(seed, scale, offset), RIGHT[way])
        assert verdict.status in ("kept", "suspect"), (scale, offset, verdict.worst)


def test_forms_alone_would_accuse_a_quarter_of_them() -> None:
    accused = []
    for way, algorithm in RIGHT.items():
        op = way.partition(":")[0]
        if judged_by(op, INPUTS.get(op, x)(0, 1.0, 0.0), algorithm).status == "suspect":
            accused.append(way)
    assert len(accused) >= len(RIGHT) // 5, accused


def test_a_claim_that_names_a_form_is_held_to_it() -> None:
    given = x(0, 1.0, 0.0)
    got = {"y": np.asarray(given["x"] - given["x"] / (1 + np.exp(given["x"])), dtype=F)}
    assert judge("silu", given, got).status == "suspect"
    assert judge("silu", given, got, Accuracy(form="x sigmoid(x)")).status == "broken"
    with pytest.warns(SuspectWarning, match="another way to compute the op"):
        judge("silu", given, got).check()


WRONG: dict[str, Algorithm] = {
    "row_sum: without the last": lambda x: in_sequence(x[..., :-1]),
    "mean: over n - 1": lambda x: in_sequence(x) / F(x.shape[-1] - 1),
    "softmax: sum without the last": lambda x: (
        np.exp(x - x.max(-1, keepdims=True)) / in_sequence(np.exp(x - x.max(-1, keepdims=True))[..., :-1])[..., None]
    ),
    "softmax: 1e-3 in the sum": lambda x: softmax_online(x) * F(0.9995),
    "log_softmax: log2": lambda x: np.log2(softmax_online(x)),
    "logsumexp: without the first": lambda x: chain(x[..., 1:]),
    "gelu: by tanh": lambda x: F(0.5) * x * (1 + np.tanh(F(0.7978845608) * (x + F(0.044715) * x**3))),
    "silu: 1.702": lambda x: x / (1 + np.exp(F(-1.001) * x)),
    "variance: over n - 1": lambda x: variance_by_pairs(x) * F(COLS / (COLS - 1)),
    "layer_norm: eps outside": lambda x, w, b: (
        (x - moments(x)[0]) / (np.sqrt(variance_by_pairs(x)) + F(1e-2))[..., None] * w + b
    ),
    "rms_norm: eps of 1e-3": lambda x, w: x * (w / np.sqrt(in_sequence(x * x)[..., None] / F(COLS) + F(1e-3))),
    "sgemm: one product less": lambda a, b: a[:, :-1] @ b[:-1],
    "attention: no scale": lambda q, k, v: attend(q * F(np.sqrt(q.shape[-1])), k, v, fold=False, shifted=True),
    "prefix_sum: exclusive": lambda x: blocked_scan(x) - x,
}


@pytest.mark.parametrize("way", WRONG)
def test_what_no_rearrangement_gives_is_broken(way: str) -> None:
    op = way.partition(":")[0]
    given = INPUTS.get(op, x)(0, 1.0, 0.0)
    verdict = judged_by(op, given, WRONG[way])
    assert verdict.status == "broken"
    with pytest.raises(AnswerError, match="broken"):
        verdict.check()
    named = Accuracy(form=find(op).forms_of(None)[0] or None)
    assert judged_by(op, given, WRONG[way], named).status == "broken"


def test_nan_for_a_number_is_broken_whatever_the_way() -> None:
    given = x(0, 1.0, 0.0)
    got = softmax_online(given["x"])
    got[3, 4] = np.nan
    assert judge("softmax", given, {"y": got}).status == "broken"


def test_of_a_suspect_slice_and_a_broken_one_the_broken_one_leads() -> None:
    given = x(0, 1.0, 0.0, cols=4096)
    given = {"x": np.concatenate([given["x"]] * 2)}
    right = given["x"] - given["x"] / (1 + np.exp(given["x"]))
    right[-1, 5] += F(1)
    verdict = judge("silu", given, {"y": np.asarray(right, dtype=F)})
    assert verdict.status == "broken"
    assert verdict.worst is not None
    assert verdict.worst.index == (2 * ROWS - 1, 5)


def test_each_term_of_a_product_that_is_multiplied_out_may_be_lost_to_underflow() -> None:
    """The sum over j of y_j (d_ij - y_i) g_j, whose terms are denormals: y (g - s) loses one of them, this one 65."""
    rng = np.random.default_rng(3)
    y, g = (rng.standard_normal((8, COLS)).astype(F) for _ in range(2))
    y, g = np.abs(y), g * F(1e-43)
    got = in_sequence(y[..., None, :] * (np.eye(COLS, dtype=F) - y[..., :, None]) * g[..., None, :])
    assert judge("softmax_backward", {"y": y, "g": g}, {"dx": got}).status == "suspect"


def test_a_row_of_large_numbers_opens_the_bound_of_no_other_row() -> None:
    """One of 3e38 in a matrix, and no row of the variances of its product with another one had a bound."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((4, 9)).astype(F), rng.standard_normal((9, 6)).astype(F)
    a[2] = F(3e38)
    roles = {"INPUTS": {"a": "float[m, k]", "b": "float[k, n]"}, "OUTPUTS": {"y": "float[m, 1]"}}
    op = read_op("", SimpleNamespace(**roles, formula=lambda N, a, b: N.mean_var(N.matmul(a, b))[1]))
    ends = loosest_ends(op, {"a": a, "b": b}, Accuracy(), {}, {})
    assert ends is not None
    assert (ends["y"].hi - ends["y"].lo)[[0, 1, 3], 0].max() < 0.01
    assert np.isinf(ends["y"].hi[2, 0])


def test_an_infinity_for_a_number_is_broken_where_only_a_missing_maximum_gives_it() -> None:
    """Its exponents of 16,000 may be off by 5, and the log of their sum by as much; it is never infinite."""
    rng = np.random.default_rng(1)
    a, b = (F(28) * rng.standard_normal(shape).astype(F) for shape in ((3, 400), (400, 6)))
    roles = {"INPUTS": {"a": "float[m, k]", "b": "float[k, n]"}, "OUTPUTS": {"y": "float[m, 1]"}}

    def formula(N: Any_, a: Any_, b: Any_) -> Any_:
        made = N.matmul(a, b)
        top = N.shift(made)
        return N.log(N.sum(N.exp(made - top))) + top

    op = read_op("", SimpleNamespace(**roles, formula=formula))
    made = in_sequence(a[:, None, :] * b.T[None])
    top = made.max(-1, keepdims=True)
    right = np.log(np.exp(made - top).sum(-1, keepdims=True)) + top
    assert judge_op(op, {"a": a, "b": b}, {"y": right}, Accuracy(), Special(), {}, None).status != "broken"
    with np.errstate(over="ignore"):
        naive = np.log(np.exp(made).sum(-1, keepdims=True))
    assert np.isinf(naive).any()
    assert judge_op(op, {"a": a, "b": b}, {"y": naive}, Accuracy(), Special(), {}, None).status == "broken"


def once(function: Any_) -> Any_:
    """A function that is rounded once to float32."""
    return lambda x: np.vectorize(function)(np.asarray(x, dtype=np.float64)).astype(F)


ANOTHER_WAY: dict[str, tuple[Any_, float, float]] = {
    "tanh": (lambda x: 1 - 2 / (once(math.exp)(2 * x) + 1), -0.01, 0.01),
    "erf": (lambda x: 1 - erfc(x), -0.01, 0.01),
    "erfc": (lambda x: 1 - erf(x), 1.0, 3.0),
    "expm1": (lambda x: once(math.exp)(x) - 1, -0.01, 0.01),
    "log1p": (lambda x: once(math.log)(1 + x), -0.01, 0.01),
    "cos": (lambda x: 1 - 2 * once(math.sin)(x * F(0.5)) ** 2, 1.56, 1.58),
    "exp": (lambda x: once(lambda t: 2.0**t)(x * F(1.4426950408889634)), 60.0, 80.0),
    "sigmoid": (lambda x: F(0.5) + F(0.5) * once(math.tanh)(x * F(0.5)), -12.0, -8.0),
}
"""A right algorithm for a function whose error follows the size of a term that the result cancels, and where."""


@pytest.mark.parametrize("name", ANOTHER_WAY)
def test_a_function_by_way_of_a_larger_term_is_suspect_and_one_that_is_off_by_more_is_broken(name: str) -> None:
    algorithm, least, greatest = ANOTHER_WAY[name]
    roles = {"INPUTS": {"x": "float[n]"}, "OUTPUTS": {"y": "float[n]"}}
    op = read_op(name, SimpleNamespace(**roles, formula=lambda N, x: getattr(N, name)(x)))
    given = {"x": np.linspace(least, greatest, 500).astype(F)}
    got = np.asarray(algorithm(given["x"]), dtype=F)

    def status(y: Any_) -> str:
        return judge_op(op, given, {"y": y}, Accuracy(), Special(), {}, None).status

    assert status(got) == "suspect"
    assert status(got + np.abs(got) * F(1e-3) + F(1e-5)) == "broken"


def test_a_place_is_beyond_all_unless_another_order_may_make_its_value_the_greatest() -> None:
    """An argmax of torch was only suspect: the loosest bound had no word for places."""
    roles = {"INPUTS": {"x": "float[rows, cols]", "w": "float[outs, cols]"}, "OUTPUTS": {"y": "int[rows]"}}
    formula = SimpleNamespace(**roles, formula=lambda N, x, w: {"y": N.places(N.matmul(x, w.T))[..., 0]})
    own = read_op("own", SimpleNamespace(**roles, formula=lambda N, x, w: {"y": N.places(x)}))
    numbers = {"x": np.array([[1, 3, 0, 3], [0, 5, 2, 1]], F), "w": np.ones((1, 4), F)}
    for places, is_beyond in (([2, 1], True), ([3, 0], True), ([3, 1], False)):
        verdict = judge_op(own, numbers, {"y": np.array(places, np.int64)}, Accuracy(), Special(), {}, None)
        assert verdict.is_beyond_all == is_beyond, (places, verdict)  # numbers that are not rounded have one order
    first = judge_op(own, numbers, {"y": np.array([3, 1], np.int64)}, Accuracy(), Special(ties="first"), {}, None)
    assert first.is_beyond_all
    x = np.random.default_rng(5).standard_normal((3, 64)).astype(F)
    x[1, 0], x[2] = np.nan, np.abs(x[2])
    w = np.stack([-np.ones(64), np.ones(64), np.ones(64), 2 * np.ones(64)]).astype(F)
    w[2, 0] += F(1e-6)  # columns 1 and 2 differ by less than the roundings of another order
    x[0] = np.abs(x[0])
    op = read_op("place", formula)
    for columns, right in (((0, 1, 2), (1, 2)), ((0, 1, 2, 3), (3,))):
        for place in columns:
            got = {"y": np.array([place, 0, right[0]], np.int64)}
            verdict = judge_op(op, {"x": x, "w": w[list(columns)]}, got, Accuracy(), Special(), {}, None)
            assert verdict.is_beyond_all == (place not in right), (columns, place, verdict)

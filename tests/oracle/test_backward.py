"""Derived gradients: equal to finite differences and to autograd, and judged as any formula is."""

import importlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.tightness.gradient_inputs import inputs_for
from kfuzz.oracle import Accuracy, OracleError, judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.op.backward import gradients_of
from kfuzz.oracle.systems.band import Bands

Numbers = NDArray[Any]
STEPS = 2.0**-18, 2.0**-19


@pytest.mark.parametrize(
    "name",
    ["softmax", "logsumexp", "log_softmax", "rms_norm", "gelu", "gelu_tanh", "swiglu", "l2_norm", "cumprod",
     "prefix_sum", "weighted_cross_entropy", "embedding", "scatter_add", "kl_div_loss", "variance"],
)  # fmt: skip
def test_a_gradient_is_that_of_finite_differences(name: str) -> None:
    op = find(name)
    given, upstream = inputs_for(op)
    made = find(f"backward of {name}").compute({**given, **upstream}, {}, bits=160)

    def loss(**changed: Numbers) -> Any:  # noqa: ANN401  a number of mpmath's
        y = op.compute({**given, **changed}, {}, bits=160)
        return sum((y[role.removeprefix("g_")] * g).sum() for role, g in upstream.items())

    for role in (role for role, one in op.inputs.items() if one.is_float):
        for at in list(np.ndindex(given[role].shape))[:2]:
            slopes = []
            for step in STEPS:
                ends = [given[role].copy(), given[role].copy()]
                ends[0][at] -= step
                ends[1][at] += step
                low, high = (loss(**{role: end}) for end in ends)
                slopes.append((high - low) / (2 * step))
            limit = (4 * slopes[1] - slopes[0]) / 3  # without the error of the second order
            size = max(1e-3, float(np.max(np.abs(np.asarray(made[f"d_{role}"], dtype=np.float64)))))
            assert abs(float(limit - made[f"d_{role}"][at])) < 1e-15 * size


def test_gradients_are_those_of_autograd() -> None:
    pytest.importorskip("torch")
    gradients = importlib.import_module("benchmarks.tightness.gradients")
    apart = {name: gradients.apart_in_double(name, 1) for name in gradients.FUNCTIONS}
    assert len(apart) >= 30
    assert max(apart.values()) < 1e-12, apart


def test_the_gradient_of_the_greater_of_nan_and_a_number_is_all_or_nothing() -> None:
    """Torch's relu lets a gradient through where its input is NaN."""
    N = Bands(Accuracy(), {})
    x = np.array([np.inf, 3.0, -3.0])
    g = np.array([2.0, 2.0, 2.0])

    def relu(N: Any, x: Any, y: Any) -> Any:  # noqa: ANN401  any system
        return N.maximum(x - y, 0.0)

    with np.errstate(all="ignore"):
        given = {"x": N.input(x), "y": N.input(np.array([np.inf, 1.0, 1.0]))}
        made = gradients_of(N, relu, given, {"y": N.input(g)}, ["x"])["x"]
    assert list(made.lo <= 0.0) == [True, False, True]
    assert list(made.hi >= 2.0) == [True, True, False]


def test_a_gradient_is_judged_as_any_answer() -> None:
    rng = np.random.default_rng(2)
    x, g = rng.standard_normal((2, 4, 9)).astype("f4")
    e = np.exp(x.astype("f8"))
    y = e / e.sum(axis=1, keepdims=True)
    right = (y * (g - (y * g).sum(axis=1, keepdims=True))).astype("f4")
    inputs = {"x": x, "g_y": g}
    assert judge("backward of softmax", inputs, {"d_x": right}).status == "kept"
    assert judge("backward of softmax", inputs, {"d_x": (y * g).astype("f4")}).status == "broken"  # without the mean


def test_the_gradient_of_a_convolution_has_the_sums_of_all_places() -> None:
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((2, 3, 6, 5)), rng.standard_normal((4, 3, 3, 2))
    g, bias = rng.standard_normal((2, 4, 2, 4)), np.zeros(4, "f4")
    d_x, d_w = np.zeros_like(x), np.zeros_like(w)
    for i, j, k, n in np.ndindex(2, 4, 3, 2):
        d_x[:, :, 2 * i + k, j + n] += g[:, :, i, j] @ w[:, :, k, n]
        d_w[:, :, k, n] += g[:, :, i, j].T @ x[:, :, 2 * i + k, j + n]
    inputs = {"x": x, "w": w, "bias": bias, "g_y": g}
    inputs = {role: one.astype("f4") for role, one in inputs.items()}
    got = {"d_x": d_x, "d_w": d_w, "d_bias": g.sum(axis=(0, 2, 3))}
    how: dict[str, float | str] = {"stride_h": 2}
    right = {role: one.astype("f4") for role, one in got.items()}
    assert judge("backward of conv2d", inputs, right, scalars=how).status == "kept"
    for role, one in right.items():
        wrong = {**right, role: one * np.float32(1.001)}
        assert judge("backward of conv2d", inputs, wrong, scalars=how).status == "broken"


def test_a_factor_that_two_parts_of_a_gradient_share_may_be_taken_out() -> None:
    rng, rows = np.random.default_rng(6), np.arange(64)
    x, g = (5 * rng.standard_normal((64, 17))).astype("f4"), rng.standard_normal(64).astype("f4")
    labels = rng.integers(0, 17, 64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True, dtype="f4")
    p[rows, labels] -= np.float32(1)  # p g - g as (p - 1) g, which rounds twice
    claim = Accuracy(adds=5, rescales=0, divide="ieee")
    inputs = {"x": x, "labels": labels, "g_loss": g}
    assert judge("backward of cross_entropy", inputs, {"d_x": p * g[:, None]}, claim).status == "kept"
    wrong = p * (g * np.float32(1 + 2e-6))[:, None]
    assert judge("backward of cross_entropy", inputs, {"d_x": wrong}, claim).status == "broken"


def test_a_share_may_underflow_before_the_gradient_multiplies_it() -> None:
    x, g = np.array([[0, -96.3, -2]], "f4"), np.array([65], "f4")
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True, dtype="f4")
    p[0, 0] -= np.float32(1)
    claim, inputs = Accuracy(divide="ieee"), {"x": x, "labels": np.array([0]), "g_loss": g}
    made = p * g[:, None]
    assert judge("backward of cross_entropy", inputs, {"d_x": made}, claim).status == "kept"
    made[0, 1] += np.float32(600 * 2.0**-149)
    assert judge("backward of cross_entropy", inputs, {"d_x": made}, claim).is_outside


def test_what_is_added_to_a_place_by_atomics_may_be_flushed_even_if_it_is_alone() -> None:
    index, w, g = np.array([1, 0]), np.zeros((3, 1), "f4"), np.array([[1e-40], [1]], "f4")
    inputs = {"index": index, "w": w, "g_y": g}
    flushed, right = np.array([[1], [0], [0]], "f4"), np.array([[1], [1e-40], [0]], "f4")
    with_atomics = Accuracy(atomics="global")
    for accuracy, answer, status in (
        (with_atomics, flushed, "kept"), (with_atomics, right, "kept"), (Accuracy(), right, "kept"),
        (Accuracy(), flushed, "broken"),
    ):  # fmt: skip
        assert judge("backward of embedding", inputs, {"d_w": answer}, accuracy).status == status


def test_where_two_are_greatest_the_gradient_may_go_to_either() -> None:
    x, g = np.array([[[1, 1, 3, 2]]], "f4"), np.array([[[4, 5]]], "f4")
    how: dict[str, float | str] = {"window_w": 2}

    def status(*d: float) -> str:
        return judge("backward of max_pool1d", {"x": x, "g_y": g}, {"d_x": np.array([[d]], "f4")}, scalars=how).status

    assert {status(4, 0, 5, 0), status(0, 4, 5, 0), status(2, 2, 5, 0)} == {"kept"}
    assert {status(4, 0, 0, 5), status(5, 0, 5, 0), status(4, 0, 5, 1)} == {"broken"}


def test_an_op_without_a_gradient_says_so() -> None:
    with pytest.raises(OracleError, match="argmax has no gradient"):
        find("backward of argmax")
    x = np.ones((1, 2, 1), "f4")
    index = np.zeros((1, 1, 1), np.int64)
    arrays = {"into": x, "index": index, "values": x[:, :1], "g_y": x}
    with pytest.raises(OracleError, match="no gradient of a scatter of which one value remains"):
        judge("backward of scatter", arrays, {"d_into": x, "d_values": x[:, :1]})


def test_an_infinity_that_another_arrangement_multiplies_by_0_is_not_judged() -> None:
    x, g = np.array([[0, 1], [0, 1]], "f4"), np.array([[-np.inf, 1], [1, 1]], "f4")
    s = 1 / (1 + np.exp(-x.astype("f8")))
    d = (g * s * (1 + x * (1 - s))).astype("f4")  # -inf at x = 0, where the quotient's rule gives 0 inf
    verdict = judge("backward of silu", {"x": x, "g_y": g}, {"d_x": d})
    assert (verdict.status, verdict.judged) == ("kept", 3)
    d[1, 0] = 1
    assert judge("backward of silu", {"x": x, "g_y": g}, {"d_x": d}).status == "broken"

"""Batch, instance, group and layer norm: answers of other algorithms are kept, and usual mistakes are broken."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, judge

Numbers = NDArray[Any]
RNG = np.random.default_rng(11)


def channels(*shape: int) -> dict[str, Any]:
    """An array of channels, with running values and weights of their own."""
    count = shape[1]
    return {
        "x": (RNG.standard_normal(shape) * 2 + 3).astype("f4"),
        "mean": RNG.standard_normal(count).astype("f4"), "var": RNG.uniform(0.5, 2, count).astype("f4"),
        "w": RNG.standard_normal(count).astype("f4"), "b": RNG.standard_normal(count).astype("f4"),
    }  # fmt: skip


def normed(x: Numbers, mean: Numbers, var: Numbers, w: Numbers, b: Numbers, eps: float = 1e-5) -> Numbers:
    mean, var, w, b = (np.asarray(one).reshape(1, -1, *[1] * (x.ndim - 2)) for one in (mean, var, w, b))
    r = (1 / np.sqrt(var.astype("f8") + eps)).astype("f4")
    return x * (r * w) + (b - mean * (r * w))  # folded


@pytest.mark.parametrize("shape", [(5, 3, 7), (4, 3), (2, 3, 4, 5)])
def test_a_batch_norm_by_running_values_may_be_folded(shape: tuple[int, ...]) -> None:
    given = channels(*shape)
    dimensions = ("batch", "channels", "height", "width")[: len(shape)] if len(shape) != 3 else ()
    op = f"batch_norm(x[{', '.join(dimensions)}], mean, var, w, b)" if dimensions else "batch_norm"
    y = normed(**given)
    assert judge(op, given, {"y": y}).status == "kept"
    own = normed(**{**given, "mean": given["x"].mean(axis=(0, *range(2, len(shape))))})
    assert judge(op, given, {"y": own}).status == "broken"  # the batch's own mean
    assert judge(op, given, {"y": normed(**{**given, "w": np.ones(3, "f4")})}).status == "broken"


def test_a_batch_norm_in_training_leaves_running_values() -> None:
    given = channels(4, 3, 6)
    x, w, b = given["x"], given["w"], given["b"]
    axes, wide = (0, 2), x.astype("f8")
    mean, var = wide.mean(axis=axes), wide.var(axis=axes)
    inputs = {"x": x, "running_mean": given["mean"], "running_var": given["var"], "w": w, "b": b}

    def status(var_by: float = 24 / 23, momentum: float = 0.1) -> str:
        got = {
            "y": normed(x, mean.astype("f4"), var.astype("f4"), w, b),
            "running_mean": ((1 - momentum) * given["mean"] + momentum * mean).astype("f4"),
            "running_var": ((1 - momentum) * given["var"] + momentum * var * var_by).astype("f4"),
        }
        return judge("batch_norm_train", inputs, got).status

    assert status() == "kept"
    assert status(var_by=1) == "broken"  # not unbiased
    assert status(momentum=0.9) == "broken"


def test_one_sample_of_a_batch_norm_may_overflow_beside_others() -> None:
    x, w = np.array([[[0.5, -0.5]], [[3, -0.25]], [[0.25, -0.75]]], "f4"), np.full(1, 3e38, "f4")
    wide = x.astype("f8")
    mean, var = wide.mean(axis=(0, 2)), wide.var(axis=(0, 2))
    none, one = np.zeros(1, "f4"), np.ones(1, "f4")
    with np.errstate(over="ignore"):
        y = normed(x, mean.astype("f4"), var.astype("f4"), w, none)
    got = {"y": y, "running_mean": (0.1 * mean).astype("f4"), "running_var": (0.9 + 0.1 * var * 6 / 5).astype("f4")}
    assert np.isinf(got["y"]).tolist() == [[[False, False]], [[True, False]], [[False, False]]]
    inputs = {"x": x, "running_mean": none, "running_var": one, "w": w, "b": none}
    assert judge("batch_norm_train", inputs, got, Accuracy(form="two pass")).status == "kept"


def test_a_group_norm_has_a_mean_for_each_group_and_an_instance_norm_for_each_channel() -> None:
    x = (RNG.standard_normal((2, 3, 4, 5)) * 2 - 1).astype("f4")
    w, b = (RNG.standard_normal((3, 4)).astype("f4") for _ in range(2))

    def over(axes: tuple[int, ...]) -> Numbers:
        wide = x.astype("f8")
        off = wide - wide.mean(axis=axes, keepdims=True)
        r = 1 / np.sqrt((off * off).mean(axis=axes, keepdims=True) + 1e-5)
        return (off * r * w[..., None] + b[..., None]).astype("f4")

    inputs = {"x": x, "w": w, "b": b}
    assert judge("group_norm", inputs, {"y": over((2, 3))}).status == "kept"
    assert judge("group_norm", inputs, {"y": over((3,))}).status == "broken"
    flat = {"x": x.reshape(2, 12, 5), "w": w.ravel(), "b": b.ravel()}
    assert judge("instance_norm", flat, {"y": over((3,)).reshape(2, 12, 5)}).status == "kept"
    assert judge("instance_norm", flat, {"y": over((2, 3)).reshape(2, 12, 5)}).status == "broken"


def test_moments_of_a_mean_of_1e4_cancel_and_two_passes_do_not() -> None:
    x = (RNG.standard_normal((1, 2, 1, 50)) + 1e4).astype("f4")
    inputs = {"x": x, "w": np.ones((2, 1), "f4"), "b": np.zeros((2, 1), "f4")}
    mean, second = x.mean(axis=(2, 3), keepdims=True), (x * x).mean(axis=(2, 3), keepdims=True)
    y = (x - mean) / np.sqrt(np.maximum(second - mean * mean, 0) + np.float32(1e-5))
    assert judge("group_norm", inputs, {"y": y}).status != "broken"
    assert judge("group_norm", inputs, {"y": y}, Accuracy(form="two pass")).status == "broken"


def test_a_layer_norm_may_be_over_several_axes() -> None:
    x, (w, b) = RNG.standard_normal((3, 4, 5)).astype("f4"), RNG.standard_normal((2, 4, 5)).astype("f4")
    op = "layer_norm(x[rows, height, width], w[height, width], b[height, width])"
    wide = x.astype("f8")

    def over(axes: tuple[int, ...]) -> Numbers:
        mean, var = wide.mean(axis=axes, keepdims=True), wide.var(axis=axes, keepdims=True)
        return ((wide - mean) / np.sqrt(var + 1e-5) * w + b).astype("f4")

    assert judge(op, {"x": x, "w": w, "b": b}, {"y": over((1, 2))}).status == "kept"
    assert judge(op, {"x": x, "w": w, "b": b}, {"y": over((2,))}).status == "broken"

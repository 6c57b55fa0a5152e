"""Losses: of each element, their mean and their sum; with weights, labels that are ignored and smoothed ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import judge

Numbers = NDArray[Any]
RNG = np.random.default_rng(12)
N = 60
X, T = RNG.standard_normal(N) * 2, RNG.standard_normal(N)
P, Q = RNG.uniform(0.01, 0.99, (2, N))
LOSSES: dict[str, tuple[Any, Any, Callable[[Any, Any], Any]]] = {
    "mse_loss": (X, T, lambda x, t: (x - t) ** 2),
    "l1_loss": (X, T, lambda x, t: np.abs(x - t)),
    "smooth_l1_loss": (X, T, lambda x, t: np.where(np.abs(x - t) < 1, (x - t) ** 2 / 2, np.abs(x - t) - 0.5)),
    "huber_loss": (X, T, lambda x, t: np.where(np.abs(x - t) < 1, (x - t) ** 2 / 2, np.abs(x - t) - 0.5)),
    "bce_loss": (P, Q, lambda x, t: -(t * np.log(x) + (1 - t) * np.log(1 - x))),
    "bce_with_logits_loss": (X, Q, lambda x, t: (1 - t) * x + np.log(1 + np.exp(-x))),
    "kl_div_loss": (np.log(P), np.append(Q[1:], 0.0), lambda x, t: t * (np.log(np.where(t, t, 1)) - x)),
    "hinge_loss": (X, np.sign(T), lambda x, t: np.maximum(0, 1 - x * t)),
}
REDUCED: dict[str, tuple[dict[str, float | str], Callable[[Any], Any]]] = {
    "mean": ({}, np.mean), "sum": ({"summed": 1}, np.sum), "each": ({"each": 1}, lambda each: each),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_reduced_as_the_claim_says(name: str) -> None:
    x, t, loss = LOSSES[name]
    x, t = x.astype("f4"), t.astype("f4")
    inputs = {"x": x, "t": t}
    each = loss(x.astype("f8"), t.astype("f8"))
    for how, reduce in REDUCED.values():
        right = np.atleast_1d(reduce(each)).astype("f4")
        assert judge(name, inputs, {"loss": right}, scalars=how).status == "kept"
        wrong = np.atleast_1d(reduce(loss(x.astype("f8"), np.roll(t, 1).astype("f8")))).astype("f4")
        assert judge(name, inputs, {"loss": wrong}, scalars=how).status == "broken"


def test_a_huber_loss_bends_at_delta() -> None:
    x, t = X.astype("f4"), T.astype("f4")
    d = np.abs(x.astype("f8") - t)
    for name, scale in (("huber_loss", 1.0), ("smooth_l1_loss", 0.5)):
        right = np.where(d < 0.5, d * d / 2, 0.5 * (d - 0.25)) / (0.5 if name == "smooth_l1_loss" else 1)
        del scale
        how: dict[str, float | str] = {"each": 1, "delta" if name == "huber_loss" else "beta": 0.5}
        assert judge(name, {"x": x, "t": t}, {"loss": right.astype("f4")}, scalars=how).status == "kept"
        seam = np.where(d < 0.5, d * d / 2, 0.5 * d).astype("f4")
        assert judge(name, {"x": x, "t": t}, {"loss": seam}, scalars=how).status == "broken"


def test_a_weight_of_the_positive_ones_multiplies_their_loss() -> None:
    x, t = X.astype("f4"), (Q > 0.5).astype("f4")
    wide = x.astype("f8")
    right = (1 - t) * wide + (1 + 2 * t) * np.log(1 + np.exp(-wide))
    inputs, how = {"x": x, "t": t}, {"each": 1, "p": 3.0}
    assert judge("bce_with_logits_loss", inputs, {"loss": right.astype("f4")}, scalars=how).status == "kept"
    plain = (1 - t) * wide + np.log(1 + np.exp(-wide))
    assert judge("bce_with_logits_loss", inputs, {"loss": plain.astype("f4")}, scalars=how).status == "broken"


def test_weights_ignored_labels_and_smoothing_go_into_a_cross_entropy() -> None:
    x, labels = RNG.standard_normal((12, 5)).astype("f4"), np.arange(12) % 5
    w = RNG.uniform(0.5, 2, 5).astype("f4")
    logs = x - np.log(np.exp(x.astype("f8")).sum(axis=1, keepdims=True))
    counts = labels != 3

    def loss(smoothing: float, weights: Numbers, keep: Numbers) -> Numbers:
        own = -logs[np.arange(12), labels] * weights[labels]
        smooth = -(logs * weights).sum(axis=1)
        return (((1 - smoothing) * own + smoothing / 5 * smooth) * keep), (weights[labels] * keep).sum()

    def status(how: dict[str, float | str], smoothing: float, weights: Numbers, keep: Numbers, by: float = 1.0) -> str:
        rows, total = loss(smoothing, weights, keep)
        got = np.atleast_1d(rows.sum() / total * by).astype("f4")
        return judge("weighted_cross_entropy", {"x": x, "labels": labels, "w": w}, {"loss": got}, scalars=how).status

    every = np.ones(12)
    assert status({}, 0.0, w, every) == "kept"
    assert status({"ignore_index": 3}, 0.0, w, counts) == "kept"
    assert status({"ignore_index": 3, "smoothing": 0.2}, 0.2, w, counts) == "kept"
    assert status({"ignore_index": 3}, 0.0, w, every) == "broken"  # not ignored
    assert status({"smoothing": 0.2}, 0.0, w, every) == "broken"  # not smoothed
    assert status({}, 0.0, np.ones(5), every) == "broken"  # not weighted
    assert status({"ignore_index": 3}, 0.0, w, counts, by=counts.mean()) == "broken"  # divided by all rows
    nll = {"x": logs.astype("f4"), "labels": labels}
    plain = np.atleast_1d(-logs[np.arange(12), labels][counts].mean()).astype("f4")
    op = "nll_loss(x, labels)"
    assert judge(op, nll, {"loss": plain}, scalars={"ignore_index": 3}).status == "kept"
    assert judge(op, nll, {"loss": plain}).status == "broken"


def test_losses_of_rows() -> None:
    a, b, c = RNG.standard_normal((3, 9, 6)).astype("f4")
    labels = np.arange(9) % 2
    wide = [one.astype("f8") for one in (a, b, c)]
    cosine = (wide[0] * wide[1]).sum(1) / np.sqrt((wide[0] ** 2).sum(1)) / np.sqrt((wide[1] ** 2).sum(1))
    for margin, status in ((0.3, "kept"), (0.0, "broken")):
        each = np.where(labels, 1 - cosine, np.maximum(cosine - margin, 0))
        how: dict[str, float | str] = {"each": 1, "margin": 0.3}
        inputs = {"a": a, "b": b, "labels": labels}
        assert judge("cosine_embedding_loss", inputs, {"loss": each.astype("f4")}, scalars=how).status == status
    near, far = (np.sqrt(((wide[0] - one + 1e-6) ** 2).sum(1)) for one in wide[1:])
    inputs = {"anchor": a, "positive": b, "negative": c}
    for margin, status in ((1.0, "kept"), (0.5, "broken")):
        got = np.atleast_1d(np.maximum(near - far + margin, 0).mean()).astype("f4")
        assert judge("triplet_margin_loss", inputs, {"loss": got}).status == status

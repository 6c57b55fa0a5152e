"""Gradients from saved values: those that are derived, and judged by the values as they are handed over."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16

Arrays = dict[str, NDArray[Any]]
F = np.float32


def saved(op: str, seed: int = 0) -> tuple[Arrays, Arrays]:
    """Inputs of an op's own gradient, with the gradient of its output, and what a kernel has saved of them."""
    rng = np.random.default_rng(seed)
    if op == "attention":
        q, k, v, g = (rng.standard_normal(shape) for shape in ((2, 5, 4), (2, 7, 4), (2, 7, 3), (2, 5, 3)))
        e = np.exp(q @ k.swapaxes(1, 2) / 2)
        s = e.sum(axis=-1, keepdims=True)
        return {"q": q, "k": k, "v": v, "g_o": g}, {"o": e @ v / s, "lse": np.log(s)[..., 0]}
    x, g, w = rng.standard_normal((6, 9)) + 2, rng.standard_normal((6, 9)), rng.standard_normal(9)
    if op == "cross_entropy":
        labels = rng.integers(0, 9, 6)
        return {"x": x, "labels": labels, "g_loss": g[:, 0]}, {"lse": np.log(np.exp(x).sum(axis=1))}
    if op == "rms_norm":
        return {"x": x, "w": w, "g_y": g}, {"rstd": 1 / np.sqrt((x * x).mean(axis=1) + 1e-6)}
    if op == "layer_norm":
        return {"x": x, "w": w, "b": 0 * w, "g_y": g}, moments(x, 1)
    x, g = x.reshape(2, 3, 9), g.reshape(2, 3, 9)
    running = {"running_mean": np.zeros(3), "running_var": np.ones(3), "b": np.zeros(3), "w": w[:3]}
    upstream = {"g_y": g, "g_running_mean": np.zeros(3), "g_running_var": np.zeros(3)}
    return {"x": x, **running, **upstream}, moments(x, (0, 2))


def moments(x: NDArray[Any], axis: int | tuple[int, ...]) -> Arrays:
    return {"mean": x.mean(axis=axis), "rstd": 1 / np.sqrt(x.var(axis=axis) + 1e-5)}


@pytest.mark.parametrize("op", ["attention", "cross_entropy", "rms_norm", "layer_norm", "batch_norm_train"])
def test_a_gradient_from_saved_values_is_the_one_that_is_derived(op: str) -> None:
    given, kept = saved(op)
    derived = find(f"backward of {op}").compute(given, {})
    module = find(f"{op.removesuffix('_train')}_backward")
    upstream = next(one for name, one in given.items() if name.startswith("g_"))
    wanted = {**given, **kept, "g": upstream}
    made = module.compute({name: wanted[name] for name in module.inputs}, {})
    for name, one in made.items():
        np.testing.assert_allclose(one, derived[f"d_{name[1:]}"], rtol=0, atol=2e-14 * np.abs(one).max())


def in_floats(arrays: Arrays) -> Arrays:
    return {name: one.astype(F) if one.dtype == np.float64 else one for name, one in arrays.items()}


def test_a_saved_value_is_taken_as_it_is() -> None:
    given, kept = saved("layer_norm", 1)
    inputs = in_floats({"x": given["x"], "w": given["w"], "g": given["g_y"], **kept})
    inputs["rstd"] = inputs["rstd"] * F(1.001)
    right = {name: one.astype(F) for name, one in find("layer_norm_backward").compute(inputs, {}).items()}
    assert judge("layer_norm_backward", inputs, right).status == "kept"
    again = {**inputs, **in_floats(moments(inputs["x"].astype("f8"), 1))}
    other = {name: one.astype(F) for name, one in find("layer_norm_backward").compute(again, {}).items()}
    assert judge("layer_norm_backward", inputs, other).status == "broken"


def expanded(x: Any, mean: Any, rstd: Any, w: Any, g: Any) -> Arrays:  # noqa: ANN401  arrays
    """The gradients by r w g + b x + c, in float32."""
    n, r = F(x.shape[1]), rstd[:, None]
    gw = g * w
    with_x, alone = (gw * x).sum(axis=1, keepdims=True), gw.sum(axis=1, keepdims=True)
    b = (alone * mean[:, None] - with_x) * r * r * r / n
    dx = r * gw + b * x + (-b * mean[:, None] - alone * r / n)
    return {"dx": dx, "dw": (g * ((x - mean[:, None]) * r)).sum(axis=0), "db": g.sum(axis=0)}


def test_the_expanded_form_of_a_norms_gradient_errs_with_the_mean_and_is_a_form_of_its_own() -> None:
    given, _ = saved("layer_norm", 2)
    x = (given["x"] + 300).astype(F)
    inputs = in_floats({"x": x, "w": given["w"], "g": given["g_y"], **moments(x.astype("f8"), 1)})
    got = expanded(**inputs)
    assert judge("layer_norm_backward", inputs, got).status == "kept"
    assert judge("layer_norm_backward", inputs, got, Accuracy(form="means")).status == "broken"


def test_each_sum_may_have_an_accumulator_of_its_own() -> None:
    """dw and db in bf16, as torch's CPU kernel has them: if every sum were, the bound of dx would be an answer wide."""
    rng = np.random.default_rng(2)
    x, g = (rng.standard_normal((16, 33)).astype(F) for _ in range(2))
    mean, rstd = x.mean(axis=1), (1 / np.sqrt(x.var(axis=1) + 1e-5)).astype(F)
    inputs = {"x": x, "mean": mean, "rstd": rstd, "w": rng.standard_normal(33).astype(F), "g": g}
    right = find("layer_norm_backward").compute(inputs, {})
    normed = (x - mean[:, None]) * rstd[:, None]
    made = {"dx": right["dx"].astype(F), "dw": in_bf16(g * normed), "db": in_bf16(g)}
    wrong = {**made, "dx": (right["dx"] * 1.01).astype(F)}
    own, every = Accuracy(accumulators={"dw": "bf16", "db": "bf16"}), Accuracy(accumulate="bf16")

    def statuses(answers: Arrays, *claims: Accuracy) -> list[str]:
        return [judge("layer_norm_backward", inputs, answers, claim).status for claim in claims]

    assert statuses(made, Accuracy(), own, every) == ["broken", "kept", "kept"]
    assert statuses(wrong, own, every) == ["broken", "kept"]


def in_bf16(x: NDArray[Any]) -> NDArray[Any]:
    """The sum of rows, one after the other, rounded to bf16 each time."""
    total = np.zeros(x.shape[1:], F)
    for row in x:
        total = BF16.round((total + row).astype(np.float64)).astype(F)
    return total

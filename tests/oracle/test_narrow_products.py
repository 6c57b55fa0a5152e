"""Tensor cores that keep 13 bits: what they add up lies inside, and a missing promotion, or a wrong scale, does not."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tensor_cores import add_on_a_tensor_core

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.accuracy.rounding import Order
from kfuzz.oracle.numbers.elements import E4M3, E5M2, Element, store
from kfuzz.oracle.numbers.grid import grid_of

F = np.float32
Doubles = NDArray[np.float64]


def matrices(kind: str, element: Element, k: int, seed: int) -> tuple[Doubles, Doubles]:
    rng = np.random.default_rng(seed)
    made = []
    for shape in ((24, k), (k, 16)):
        x = rng.standard_normal(shape) * {"normal": 40, "positive": 40, "wide": 1, "denormal": 2.0**-7}[kind]
        x = np.abs(x) if kind == "positive" else x * np.exp2(rng.integers(-8, 8, shape)) if kind == "wide" else x
        made.append(grid_of(element).round(x))
    return made[0], made[1]


def status(a: Doubles, b: Doubles, c: NDArray[np.float32], claim: Accuracy, element: Element = E4M3) -> str:
    inputs: dict[str, Any] = {
        "a": store(a, element), "b": store(b, element),
        "scale_a": np.ones((len(a), 1), F), "scale_b": np.ones((1, b.shape[1]), F),
    }  # fmt: skip
    return judge("scaled_gemm", inputs, {"c": c}, claim).status


@pytest.mark.parametrize("kind", ["normal", "positive", "wide", "denormal"])
@pytest.mark.parametrize("promote", [None, 128])
@pytest.mark.parametrize("element", [E4M3, E5M2], ids=str)
def test_what_a_tensor_core_adds_up_lies_inside(kind: str, promote: int | None, element: Element) -> None:
    claim = Accuracy(accumulate="mma fp8", promote=promote)
    in_order = Accuracy(accumulate="mma fp8", promote=promote, order=Order("sequential"))
    for k in (32, 96, 1024):
        a, b = matrices(kind, element, k, k)
        c = add_on_a_tensor_core(a, b, element.least, promote)
        assert status(a, b, c, claim, element) == "kept"
        assert status(a, b, c, in_order, element) == "kept"
        if promote is None:
            c = add_on_a_tensor_core(a, b, element.least, None, np.random.default_rng(1).permutation(k // 32))
            assert status(a, b, c, claim, element) == "kept"


def test_a_sum_that_is_not_promoted_is_outside_of_a_claim_that_it_is() -> None:
    a, b = matrices("positive", E4M3, 4096, 1)
    c = add_on_a_tensor_core(a, b, E4M3.least, None)
    assert status(a, b, c, Accuracy(accumulate="mma fp8", promote=128)) == "broken"
    assert status(a, b, c, Accuracy(accumulate="mma fp8")) == "kept"
    assert status(a, b, c, Accuracy(accumulate="mma")) == "broken", "25 bits below the largest are not kept"


def test_a_cut_goes_toward_zero_so_a_positive_sum_is_never_too_large() -> None:
    a, b = matrices("positive", E4M3, 512, 2)
    claim = Accuracy(accumulate="mma fp8")
    exact = a @ b
    assert status(a, b, (exact * (1 - 2.0**-11)).astype(F), claim) == "kept"
    assert status(a, b, (exact * (1 + 2.0**-20)).astype(F), claim) == "broken"


def test_a_denormal_factor_cuts_as_the_least_normal_one() -> None:
    a, b = np.zeros((1, 32)), np.zeros((32, 1))
    a[0, :3], b[:3, 0] = [2.0**-9, -(2.0**-9), 2.0**-6], [128, 128, 2.0**-6]  # 2^-12 is the unit beside 2^-6 x 128
    c = add_on_a_tensor_core(a, b, E4M3.least, None)
    assert c[0, 0] == 2.0**-12
    a[0, 2] = 2.0**-7
    c = add_on_a_tensor_core(a, b, E4M3.least, None)
    assert c[0, 0] == 0
    assert status(a, b, c, Accuracy(accumulate="mma fp8")) == "kept"


@pytest.mark.parametrize("promote", [0, 100, 33])
def test_a_promotion_is_a_multiple_of_a_step(promote: int) -> None:
    with pytest.raises(ValueError, match=r"promote=\d+: expected a multiple of 32"):
        Accuracy(accumulate="mma fp8", promote=promote)
    with pytest.raises(ValueError, match="promote=64: expected a multiple of 32 with accumulate='mma fp8'"):
        Accuracy(promote=64)


def test_factors_may_be_scaled_before_they_are_multiplied() -> None:
    """PyTorch 2.14's `_scaled_mm` on a CPU: 128 products of about 160,000, whose exact sum lies just below a middle."""
    rng = np.random.default_rng(35)
    a, b = (grid_of(E4M3).round(rng.choice([352.0, 384.0, 416.0, 448.0], shape)) for shape in ((64, 128), (128, 64)))
    inputs: dict[str, Any] = {
        "a": store(a, E4M3), "b": store(b, E4M3),
        "scale_a": rng.uniform(0.01, 0.02, (64, 1)).astype(F), "scale_b": rng.uniform(10, 40, (1, 64)).astype(F),
    }  # fmt: skip
    left, right = a.astype(F) * inputs["scale_a"], b.astype(F) * inputs["scale_b"]
    c = np.zeros((64, 64), F)
    for term in range(128):
        c += left[:, term, None] * right[term]
    after = (a @ b * inputs["scale_a"] * inputs["scale_b"]).astype(F)
    for answer in (c, after):
        assert judge("scaled_gemm", inputs, {"c": answer}, Accuracy(form="any")).status == "kept"
    rules = {"mma fp8": Accuracy(accumulate="mma fp8"), "factors": Accuracy(form="scaled factors")}
    assert {name: judge("scaled_gemm", inputs, {"c": c}, rule).status for name, rule in rules.items()} == {
        "mma fp8": "broken", "factors": "kept",
    }  # fmt: skip


def test_a_scaled_factor_may_overflow_where_a_scaled_sum_does_not() -> None:
    a, b = np.full((1, 16), 448.0), np.full((16, 1), 2.0**-9)
    inputs: dict[str, Any] = {
        "a": store(a, E4M3), "b": store(b, E4M3),
        "scale_a": np.full((1, 1), 2.0**120, F), "scale_b": np.full((1, 1), 2.0**-120, F),
    }  # fmt: skip
    infinite, right = np.full((1, 1), np.inf, F), np.full((1, 1), 14.0, F)
    assert judge("scaled_gemm", inputs, {"c": infinite}, Accuracy(form="scaled factors")).status != "broken"
    assert judge("scaled_gemm", inputs, {"c": infinite}, Accuracy()).status == "broken"
    assert judge("scaled_gemm", inputs, {"c": right}, Accuracy()).status == "kept"

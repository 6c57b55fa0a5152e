"""Products of 8 bits that wgmma adds, beside a reference in float32: right where the code has such, and only there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tensor_cores import add_on_a_tensor_core

from kfuzz.oracle.numbers.elements import E4M3, E5M2, Element
from kfuzz.oracle.numbers.grid import grid_of
from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
as_arrays = pytest.importorskip(f"{twins}.as_arrays")
three_runs = pytest.importorskip(f"{twins}.three_runs")
LEAST = {E4M3: -6, E5M2: -14}
BLOCK = 64
KINDS = {
    "normal": lambda rng, shape: 40 * rng.standard_normal(shape),
    "positive": lambda rng, shape: 40 * np.abs(rng.standard_normal(shape)),
    "wide": lambda rng, shape: rng.standard_normal(shape) * np.exp2(rng.integers(-8, 8, shape)),
    "denormal": lambda rng, shape: 2.0**-7 * rng.standard_normal(shape),
    "sparse": lambda rng, shape: 2.0**-8 * rng.standard_normal(shape) * (rng.random(shape) < 0.1),
}


def product(a: Any, b: Any) -> Any:  # noqa: ANN401
    return a.float() @ b.float()


def scaled(a: Any, b: Any, by_a: Any, by_b: Any) -> Any:  # noqa: ANN401
    """Blocks of k have a scale of their own on both sides."""
    return (a * by_a.repeat_interleave(BLOCK, -1)) @ (b * by_b.repeat_interleave(BLOCK, 0))


def worst(function: Callable[..., Any], given: list[Any], got: Any, adds_8_bits: bool = True) -> Grade:  # noqa: ANN401
    answered = three_runs.Answered(function, given, __file__, adds_8_bits=adds_8_bits)
    made = as_arrays.grade_answer(as_arrays.reference_sets(answered), [got])
    assert not isinstance(made, str)
    return Grade(max(int(one.max()) for one in made))


def matrices(kind: str, element: Element, k: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(k)
    a, b = (grid_of(element).round(KINDS[kind](rng, shape)) for shape in ((24, k), (k, 16)))
    return a, b


def as_float(x: Any) -> Any:  # noqa: ANN401
    return torch.from_numpy(np.asarray(x, np.float32))


@pytest.mark.parametrize("element", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [32, 100, 512])
def test_what_a_tensor_core_adds_up_is_right(kind: str, element: Element, k: int) -> None:
    a, b = matrices(kind, element, k)
    got = as_float(add_on_a_tensor_core(a, b, LEAST[element], None))
    given = [as_float(a), as_float(b)]
    assert worst(product, given, got) == Grade.KEPT
    assert worst(product, given, as_float(a) @ as_float(b)) == Grade.KEPT  # a product in float32 is no worse


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_other_scales_are_right(kind: str) -> None:
    rng = np.random.default_rng(7)
    a, b = matrices(kind, E4M3, 4 * BLOCK)
    by_a, by_b = (np.exp2(rng.integers(-9, 9, shape)).astype(np.float32) for shape in ((24, 4), (4, 16)))
    parts = [
        by_a[:, [one]] * add_on_a_tensor_core(a[:, at], b[at], LEAST[E4M3], None).astype(float) * by_b[[one]]
        for one in range(4)
        for at in [slice(one * BLOCK, (one + 1) * BLOCK)]
    ]
    given = [as_float(one) for one in (a, b, by_a, by_b)]
    assert worst(scaled, given, as_float(sum(parts))) == Grade.KEPT


def test_without_such_products_it_is_an_error_and_other_errors_are_found() -> None:
    a, b = matrices("normal", E4M3, 64)
    got = as_float(add_on_a_tensor_core(a, b, LEAST[E4M3], None))
    given = [as_float(a), as_float(b)]
    assert worst(product, given, got, adds_8_bits=False) == Grade.BROKEN
    assert worst(product, given, got * 1.1) == Grade.BROKEN
    short = as_float(add_on_a_tensor_core(a[:, :32], b[:32], LEAST[E4M3], None))
    assert worst(product, given, short) == Grade.BROKEN
    assert worst(product, given, got.flip(0)) == Grade.BROKEN

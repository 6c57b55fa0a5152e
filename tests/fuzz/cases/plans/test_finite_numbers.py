"""Inputs in which the maker of a problem's inputs never has an infinity or a NaN get none."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kfuzz.cases.case import numbers_in
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.families import NAN, NEG_INF, POS_INF
from kfuzz.cases.plans.finite_numbers import promised_finite, with_finite_numbers
from kfuzz.cases.plans.plan import plan
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.numbers.elements import BF16, F16, F32, Element


@pytest.mark.parametrize("element", [F32, BF16, F16])
@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 1, NEG_INF)],
        [Edit(2, 2, POS_INF), Edit(3, 3, NAN)],
        [Edit(0, -1, bits_of(3e38)), Edit(1, 1, bits_of(3e38), "add")],
        [Edit(0, 0, bits_of(1e6))],
    ],
)
def test_no_number_of_the_array_is_infinite_or_nan(element: Element, edits: Sequence[Edit]) -> None:
    recipe = Recipe(1, 5, (Band(Base("normal", bits_of(0.0), bits_of(1.0)), tuple(edits)),))
    made = with_finite_numbers(recipe, element)
    values = made.values if isinstance(made, Recipe) else made
    assert np.isfinite(element.round(values.astype(np.float64))).all()
    plain = np.isfinite(recipe.values) & (np.abs(recipe.values) <= element.max)
    assert (values == recipe.values)[plain].all()


def test_a_recipe_of_finite_numbers_stays_one() -> None:
    recipe = Recipe(1, 5, (Band(Base("normal", bits_of(0.0), bits_of(1.0)), (Edit(1, 1, bits_of(-3e38)),)),))
    assert with_finite_numbers(recipe, F32) == recipe


PROBLEM = """import torch


def reference(x, mask):
    return torch.relu(x + mask)


def get_inputs():
    mask = torch.zeros(4, 8)
    mask[0, 1] = -torch.inf
    return [torch.randn(4, 8), mask]
"""


@pytest.mark.slow
def test_an_answer_that_is_judged_gets_infinities_only_where_get_inputs_makes_some(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "answer.py").write_text("def answer(x, mask):\n    return (x + mask).clamp(min=0)\n")
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    assert promised_finite(kernel) == ("x",)
    judged = replace(kernel, always_finite=promised_finite(kernel))
    spoken = replace(kernel, values=replace(kernel.values, special=replace(kernel.special, nan="row")))
    assert not promised_finite(spoken)
    for one, odd in ((kernel, {"x", "mask"}), (judged, {"mask"})):
        cases = [plan(one, seeded_choices(seed)).case for seed in range(30)]
        assert {
            role for case in cases for role, array in case.arrays.items() if not np.isfinite(numbers_in(array)).all()
        } == odd


@pytest.mark.slow
def test_most_trials_have_infinities_only_where_get_inputs_makes_some(tmp_path: Path) -> None:
    """Of huge numbers nearly all came beside an infinity: in 40 trials one showed what it is to subtract no maximum."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "answer.py").write_text("def answer(x, mask):\n    return (x + mask).clamp(min=0)\n")
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    drawn = [numbers_in(plan(kernel, seeded_choices(seed)).case.arrays["x"]) for seed in range(80)]
    odd = sum(not np.isfinite(x).all() for x in drawn)
    huge = sum(bool(np.isfinite(x).all() and np.abs(x).max(initial=0) > 1e30) for x in drawn)
    assert 0 < odd < 12 < huge

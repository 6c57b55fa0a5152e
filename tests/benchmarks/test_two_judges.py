"""Rows are judged twice, and each row on which float64 and balls differ is counted."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.tightness import two_judges
from benchmarks.tightness.definitions import DEFINITIONS, define
from benchmarks.tightness.judged_twice import Counts, JudgedCase, judge_twice, last_inside, step_up
from kfuzz.claims.kernel import KERNELS
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, E4M3, F16, F32, I8, Element
from kfuzz.oracle.numbers.verdict import Special

ROWS = np.random.default_rng(3).standard_normal((12, 5)).astype(np.float32)


def count(moved: float) -> Counter[str]:
    """What is counted for sums of short rows, where the ends of float64 are moved by so much."""
    case = JudgedCase(find("row_sum"), {"x": ROWS}, Accuracy(), Special(), {}, moved)
    return judge_twice(case, {"y": ROWS.sum(axis=1)}, seed=1).of


def test_the_two_judges_agree_on_each_row_and_each_end() -> None:
    found = count(0.0)
    assert found["rows judged"] == found["kept by both"] + found["broken for both"] == 4 * len(ROWS)
    assert found["just outside: broken"] == len(ROWS)
    assert found["ends of float64 inside"] == 0


def test_ends_that_are_too_wide_or_too_narrow_on_purpose_are_counted() -> None:
    assert count(2.0**-16)["broken for balls alone"] > 0
    narrow = count(-(2.0**-16))
    assert narrow["broken for float64 alone"] > 0
    assert narrow["ends of float64 inside"] == 2 * len(ROWS)


def test_a_definition_that_differs_from_the_oracle_is_counted() -> None:
    case = JudgedCase(find("row_sum"), {"x": ROWS}, Accuracy(), Special(), {})
    right = {"y": ROWS.sum(axis=1)}
    exact = define("row_sum", {"x": ROWS}, {"x": ("rows", "cols")}, {})
    assert judge_twice(case, right, 1, exact).of["exact values outside"] == 0
    twice = define("row_sum", {"x": 2 * ROWS}, {"x": ("rows", "cols")}, {})
    assert judge_twice(case, right, 1, twice).of["exact values outside"] == len(ROWS)


@pytest.mark.parametrize("op", DEFINITIONS)
def test_a_definition_and_the_oracle_mean_the_same(op: str) -> None:
    module = find(op)
    sizes = module.small_sizes(3)
    given = module.random_inputs(sizes, np.random.default_rng(5))
    dimensions = {name: role.dimensions for name, role in module.inputs.items()}
    exact = define(op, given, dimensions, module.scalars_of(sizes, {}))
    (want,) = module.compute(given, {}).values()
    # No bound is judged here: float64 errs by less than this, and another meaning by far more.
    np.testing.assert_allclose(np.array(exact, dtype=np.float64).ravel(), want.ravel(), rtol=2.0**-40)


@pytest.mark.parametrize("element", [F32, F16, BF16, E4M3, I8], ids=str)
def test_the_last_number_inside_is_the_one_before_the_first_outside(element: Element) -> None:
    ends = np.array([0.3, 1.0, -1.0, -0.3, 2.0, 5.7, 0.0, -2.0])
    last = last_inside(ends, element)
    after = step_up(last, element)
    assert (last <= ends).all()
    assert (ends < after).all()
    np.testing.assert_array_equal(element.round(last), last)
    np.testing.assert_array_equal(element.round(after), after)


def test_sums_are_kept_and_go_on(tmp_path: Path) -> None:
    path = KERNELS / "reduce" / "warp_sum_xor.cu"
    name, counts = two_judges.look(path, 0)
    assert name == "row_sum f32"
    sums = {name: Counts()}
    sums[name].add(counts)
    two_judges.write(tmp_path / "sums.json", sums, {"tasks": 1})
    again, numbers = two_judges.read(tmp_path / "sums.json")
    assert again == sums
    assert numbers == {"tasks": 1}

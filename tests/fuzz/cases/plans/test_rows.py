"""Rows of one array: how many an answer takes, and ordinary ones where hostile rows would make every answer NaN."""

import random

import numpy as np
import pytest
from our_kernels import every_kernel

from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.plan import answers_and_numbers, plan, rows_of_an_answer
from kfuzz.cases.plans.rows import plain_rows, rows_in_parts

KERNELS = {kernel.name: kernel for kernel in every_kernel()}


@pytest.mark.parametrize(
    ("op", "role", "shape", "rows"),
    [("sgemm", "a", (5, 64), 1), ("sgemm", "b", (64, 7), 64), ("softmax", "x", (9, 9), 1),
     ("conv3d", "x", (2, 1, 16, 1, 3, 9), 48)],
)  # fmt: skip
def test_an_answer_takes_the_rows_of_all_dimensions_that_are_not_independent(
    op: str, role: str, shape: tuple[int, ...], rows: int
) -> None:
    assert rows_of_an_answer(op, role, shape) == rows


@pytest.mark.parametrize(
    ("op", "role", "shape", "answers"),
    [
        ("sgemm", "a", (5, 64), (5, 64)),
        ("sgemm", "b", (64, 7), (1, 448)),
        ("conv3d", "x", (2, 1, 16, 1, 3, 9), (2, 432)),
    ],
)
def test_an_answer_takes_what_comes_after_the_dimensions_that_are_independent(
    op: str, role: str, shape: tuple[int, ...], answers: tuple[int, int]
) -> None:
    assert answers_and_numbers(op, role, shape) == answers


def test_the_means_of_parts_are_far_from_that_of_all() -> None:
    for seed in range(20):
        for row in rows_in_parts(5, 1 << 12, random.Random(seed).randint).values:  # noqa: S311  values, nothing secret
            parts, size = row.reshape(64, -1).mean(1), np.abs(row).mean()
            assert np.abs(parts - row.mean()).max() > size / 4
            assert row.sum(dtype=np.float32) == row.sum(dtype=np.float64), "every sum is exact"


@pytest.mark.parametrize("kind", range(3))
def test_plain_rows_are_finite_and_differ(kind: int) -> None:
    values = plain_rows(30, 12, lambda low, high: min(high, low + kind)).values
    assert np.isfinite(values).all()
    assert np.abs(values).max() < 16
    assert len({row.tobytes() for row in values}) == 30


def test_plain_rows_lie_beyond_each_number_at_which_a_maximum_or_a_minimum_may_begin() -> None:
    drawn = [plain_rows(40, 6, random.Random(seed).randint, (6e7,)).values for seed in range(400)]  # noqa: S311  values
    for number in (0.0, 1e4, 6e7):
        assert any((one > number).all() for one in drawn)
        assert any((one < -number).all() for one in drawn)
    assert sum(bool((one > 0).all() or (one < 0).all()) for one in drawn) < 100, "most have both signs"


def test_some_plain_rows_are_so_small_that_an_eps_counts() -> None:
    """A batch norm by eps = 1e-3 for 1e-5 was no error in 60 trials: at numbers near 1 it errs as roundings may."""
    drawn = [plain_rows(40, 6, random.Random(seed).randint).values for seed in range(100)]  # noqa: S311  values
    assert 5 < sum(float(np.abs(one).max()) < 0.02 for one in drawn) < 30


@pytest.mark.slow
@pytest.mark.parametrize(("name", "odd"), [("winograd_conv2d/tile_a_thread", np.isnan), ("conv3d/direct2d", np.isinf)])
def test_some_convolutions_have_one_number_that_is_not_finite(name: str, odd: np.ufunc) -> None:
    """A NaN that spreads over a tile shows where all other numbers are finite: 3 of 400 trials had one."""
    kernel = KERNELS[name]
    cases = [plan(kernel, seeded_choices(seed)).case for seed in range(400)]
    for role in ("x", "w"):
        alone = [case.arrays for case in cases if 0 < odd(case.arrays[role]).sum() <= case.arrays[role].size / 80]
        assert sum(all(np.isfinite(one[other]).all() for other in {"x", "w"} - {role}) for one in alone) > 5

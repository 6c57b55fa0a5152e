"""Large storages are looked at once for many runs, and again when their numbers have changed; what is asked is made."""

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
lasting = pytest.importorskip(f"{twins}.lasting")
reference_sets = pytest.importorskip(f"{twins}.as_arrays").reference_sets
memory = pytest.importorskip(f"{twins}.memory")
three_runs = pytest.importorskip(f"{twins}.three_runs")

ROWS = 8


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401  its own storages
    held = lasting.LastingStorages()
    monkeypatch.setattr(lasting, "LEAST_NUMBERS", 100)
    monkeypatch.setattr(memory, "LASTING", held)
    return held


def sets_of(weight: Any, x: Any, **asked: Any) -> Any:  # noqa: ANN401  tensors
    return reference_sets(three_runs.Answered(lambda given: given @ weight.t(), [x]), **asked)[0]


def test_a_weight_is_looked_at_once_while_its_bits_are_the_same(few: Any) -> None:  # noqa: ANN401
    weight = torch.randn(16, 32)
    assert few.get(weight) is None
    known = few.get(weight)
    assert few.get(weight.t()) is known
    weight.data.mul_(2)
    assert few.get(weight).x.equal(weight.double().reshape(-1))
    assert few.get(weight) is not known


def test_a_new_storage_is_not_taken_for_an_older_one(few: Any) -> None:  # noqa: ANN401
    for number in range(50):
        one = torch.full((10, 20), float(number))
        known = few.get(one)
        assert known is None or float(known.x[0]) == number


@pytest.mark.parametrize("special", [1e-40, math.inf, math.nan])
def test_kept_numbers_give_the_sets_that_new_ones_give(
    few: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
    special: float,
) -> None:
    generator = torch.Generator().manual_seed(1)
    weight, x = torch.randn(16, 32, generator=generator), torch.randn(ROWS, 32, generator=generator)
    weight[3, 5] = special
    first = sets_of(weight, x)
    assert few.kept
    monkeypatch.setattr(lasting, "LEAST_NUMBERS", 10**6)
    again = sets_of(weight, x)
    for part in ("x", "proved", "loosest"):
        assert np.array_equal(getattr(first, part), getattr(again, part), equal_nan=True)


def test_only_so_many_bytes_are_kept(few: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    monkeypatch.setattr(lasting, "MOST_BYTES", 3 * 20 * 200)
    every = [torch.randn(200) for _ in range(6)]
    for one in [*every, *every]:
        few.get(one)
    assert len(few.kept) == 3


def test_exact_values_are_those_of_the_sets_and_take_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, x = torch.randn(16, 32), torch.randn(ROWS, 32)
    full = sets_of(weight, x)
    runs = []
    run = three_runs.Answered.run
    monkeypatch.setattr(three_runs.Answered, "run", lambda self, **how: runs.append(how) or run(self, **how))
    made = sets_of(weight, x, of_values=True)
    assert np.array_equal(made.x, full.x)
    assert runs == [{}]

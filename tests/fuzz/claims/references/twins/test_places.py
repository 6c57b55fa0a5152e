"""Places of equal and of near numbers as outputs, and what lies there: any of them is right, and no other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
as_arrays = pytest.importorskip(f"{twins}.as_arrays")
three_runs = pytest.importorskip(f"{twins}.three_runs")


def top(s: Any, k: int = 6) -> Any:  # noqa: ANN401
    return s.topk(k, -1).indices


def written_later(s: Any) -> Any:  # noqa: ANN401
    """The scores are a part of an array, and change after their places are there."""
    wide = torch.zeros(len(s), 13)
    wide[:, :12] = s
    places = wide[:, :12].topk(6, -1).indices
    wide[:, 3] = 1e6
    return places


PLACES: dict[str, Callable[[Any], Any]] = {
    "as they are": top,
    "of 32 bits": lambda s: top(s).to(torch.int32),
    "some of an order": lambda s: s.sort(-1, descending=True).indices[:, :6],
    "copied": lambda s: s.argsort(-1, descending=True)[:, :6].contiguous(),
    "in a row": lambda s: top(s).view(-1),
    "turned": lambda s: top(s).T,
    "of one rank": lambda s: top(s)[:, 4],
    "picked": lambda s: top(s)[torch.tensor([1, 0])],
    "hidden where nothing is": lambda s: torch.where(s.topk(6, -1).values > 0, top(s), -1),
    "filled where nothing is": lambda s: top(s).masked_fill_(s.topk(6, -1).values <= 0, -1),
    "written later": written_later,
}
SCORES = torch.tensor([
    [1.0, 0.0, 4.0, 0.0, 2.5, 0.0, 0.0, 9.0, 2.5, 7.0, 0.0, 0.0],
    [3.0, 0.0, 3.0, 0.0, 3.0, 0.0, 0.0, 9.0, 0.0, 7.0, 0.0, 8.0],
])  # fmt: skip
"""Exact zeros, as after a relu, and equal scores."""


def grade_places(function: Callable[[Any], Any], places: Any) -> Any:  # noqa: ANN401
    (one,) = as_arrays.reference_sets(three_runs.Answered(lambda s: function(torch.relu(s * 3)), [SCORES], __file__))
    return one.grade(places.double().numpy(), None)


def with_ties_turned(function: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """The places if of equal scores the last comes first."""
    later = torch.arange(12)
    tilted = SCORES + torch.where(SCORES > 0, 1e-6 * later, -1e-6 * (12 - later))
    return function(tilted)


@pytest.mark.parametrize("name", PLACES)
def test_any_place_of_equal_numbers_is_right_wherever_places_are_moved_and_no_other(name: str) -> None:
    """As int32, or as a slice of an order, the places of equal scores were not judged at all."""
    function = PLACES[name]
    right, turned = function(SCORES), with_ties_turned(function)
    assert not torch.equal(right, turned)
    for answer in (right, turned):
        assert (grade_places(function, answer) == Grade.KEPT).all()
    for wrong in (right + 1, (right - 1) % 12, torch.full_like(right, 12)):
        graded = grade_places(function, wrong)
        assert set(graded.ravel()) <= {Grade.KEPT, Grade.BROKEN}
        assert (graded == Grade.BROKEN).mean() > 0.4
    if name != "of one rank":
        twice = torch.full_like(right, int(right.reshape(-1)[0]))
        assert (grade_places(function, twice) == Grade.BROKEN).mean() > 0.4


def test_a_place_may_be_shown_twice_but_not_be_two() -> None:
    twice = lambda s: top(s).repeat(1, 2)  # noqa: E731
    right = twice(SCORES)
    assert (grade_places(twice, right) == Grade.KEPT).all()
    right[:, 1] = right[:, 0]
    assert (grade_places(twice, right) == Grade.BROKEN).any()


GATHERED: dict[str, Callable[[Any, Any], Any]] = {
    "gather": lambda s, v: v.gather(-1, top(s)),
    "index": lambda s, v: v[0][top(s)],
    "rows": lambda s, v: v.T[top(s)[0]],
    "index_select": lambda s, v: v.index_select(1, top(s)[0]),
    "embedding": lambda s, v: torch.nn.functional.embedding(top(s), v.T),
    "take": lambda s, v: v.take(top(s)),
}


@pytest.mark.parametrize("name", GATHERED)
def test_what_lies_at_places_of_near_numbers_is_one_of_theirs(name: str) -> None:
    """Nothing was known of it, and so of a loss over the chosen."""
    generator = torch.Generator().manual_seed(0)
    v, x = torch.rand(2, 12, generator=generator), SCORES / 3

    def reference(x: Any, v: Any) -> Any:  # noqa: ANN401
        return GATHERED[name](torch.relu(x * 3), v)

    (one,) = as_arrays.reference_sets(three_runs.Answered(reference, [x, v], __file__))
    assert np.isfinite(one.proved).all()
    for number in range(20):
        tilted = SCORES + 1e-7 * torch.rand(SCORES.shape, generator=torch.Generator().manual_seed(number))
        assert (one.grade(GATHERED[name](tilted, v).double().numpy(), None) == Grade.KEPT).all()
    assert (one.grade((GATHERED[name](SCORES, v) + 1).double().numpy(), None) == Grade.BROKEN).all()
    assert (one.grade(GATHERED[name](-SCORES, v).double().numpy(), None) == Grade.BROKEN).any()

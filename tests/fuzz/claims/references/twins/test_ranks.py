"""Numbers compared with one of a rank in their row: certain where any numbers of the sets give the same truth."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
as_arrays = pytest.importorskip(f"{twins}.as_arrays")
three_runs = pytest.importorskip(f"{twins}.three_runs")
ranks = pytest.importorskip(f"{twins}.ranks")
sets = pytest.importorskip(f"{twins}.sets")

COMPARISONS = {one: getattr(operator, one) for one in ranks.FLIPPED}


ALWAYS = [("le", 0), ("gt", 0), ("ge", 6), ("lt", 6)]
"""No number is above the largest one, and all are no less than the least of 7."""


def rows_with_near_and_equal_numbers(generator: Any) -> Any:  # noqa: ANN401
    x = torch.randint(-4, 5, (40, 7), generator=generator).double()
    x[:, 2] = torch.where(torch.rand(40, generator=generator) < 0.3, -torch.inf, x[:, 2])
    r = torch.rand(x.shape, generator=generator).double() * torch.randint(0, 2, x.shape, generator=generator)
    return sets.NumberSet(x, torch.where(x.isinf(), 0.0, r), torch.float32)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("rank", [0, 2, 6])
def test_what_is_certain_of_a_comparison_with_a_rank_holds_for_all_numbers_of_the_sets(name: str, rank: int) -> None:
    generator = torch.Generator().manual_seed(rank)
    one = rows_with_near_and_equal_numbers(generator)
    made = ranks.ranks_of(one, [1], torch.tensor([rank]))
    other = sets.NumberSet(torch.zeros(40, 1), torch.ones(40, 1), torch.float32, joint=made)
    true, false = ranks.compare_with_rank(name, one, other)
    flipped = ranks.compare_with_rank(ranks.FLIPPED[name], other, one)
    assert all(bool((a == b).all()) for a, b in zip((true, false), flipped, strict=True))
    ever_true, ever_false = (torch.zeros(one.x.shape) > 0 for _ in range(2))
    for _ in range(600):
        away = torch.randint(-1, 2, one.x.shape, generator=generator) if rank else 2 * torch.rand(one.x.shape) - 1
        moved = torch.where(one.r > 0, one.number + away * one.r, one.number)
        truth = COMPARISONS[name](moved, moved.sort(-1, descending=True).values[:, rank : rank + 1])
        ever_true, ever_false = ever_true | truth, ever_false | ~truth
    assert not bool((true & ever_false).any())
    assert not bool((false & ever_true).any())
    open_rows = ~(true | false)
    assert float((open_rows & ~(ever_true & ever_false)).double().mean()) < 0.1, "what is always so is known"
    assert bool(open_rows.any()) == ((name, rank) not in ALWAYS)


def scores(x: Any, w: Any) -> Any:  # noqa: ANN401
    return (x.float() @ w.float()).to(x.dtype)


def masked_by(least: Callable[[Any], Any], keep: Callable[[Any, Any], Any] = operator.ge) -> Callable[..., Any]:
    def reference(x: Any, w: Any) -> Any:  # noqa: ANN401
        s = scores(x, w)
        return torch.where(keep(s, least(s)), s, -torch.inf).softmax(-1)

    return reference


LEAST: dict[str, Callable[[Any], Any]] = {
    "min": lambda s: s.topk(4, -1).values.min(-1, keepdim=True).values,
    "amin": lambda s: s.topk(4, -1)[0].amin(-1, keepdim=True),
    "the last": lambda s: s.topk(4, -1).values[:, -1:],
    "the last, with an axis for itself": lambda s: s.topk(4, -1).values[..., -1].unsqueeze(-1),
    "of numbers in order": lambda s: s.sort(-1).values[:, -4, None],
    "of numbers in falling order": lambda s: s.sort(-1, descending=True)[0][:, 3:4],
    "kthvalue": lambda s: s.kthvalue(s.shape[-1] - 3, -1, keepdim=True).values,
    "of the negative scores": lambda s: s.topk(s.shape[-1] - 3, -1, largest=False).values.amax(-1, keepdim=True),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", LEAST)
def test_a_mask_by_the_least_of_the_largest_is_judged_and_another_k_is_found(name: str, dtype: Any) -> None:  # noqa: ANN401
    """The number that is the threshold was taken for one that may be below it: nothing was known of its row."""
    torch.manual_seed(0)
    x, w = torch.randn(16, 64).to(dtype), torch.randn(64, 12).to(dtype)
    function = masked_by(LEAST[name])
    (one,) = as_arrays.reference_sets(three_runs.Answered(function, [x, w], __file__))
    right, by_parts = function(x, w), scores(x, w)
    by_parts = sum(x[:, i : i + 8].float() @ w[i : i + 8].float() for i in range(0, 64, 8)).to(dtype)
    other = torch.where(by_parts >= by_parts.topk(4).values[:, 3:], by_parts, -torch.inf).softmax(-1)
    for answer in (right, other):
        graded = one.grade(answer.double().numpy(), None)
        assert set(graded.ravel()) <= {Grade.KEPT, Grade.UNJUDGED}
        assert np.mean(graded == Grade.UNJUDGED) < (0.05 if dtype == torch.float32 else 0.5)
    for wrong in (masked_by(LEAST[name], operator.gt), masked_by(lambda s: s.topk(5).values[:, -1:])):
        assert (one.grade(wrong(x, w).double().numpy(), None) == Grade.BROKEN).any(-1).mean() > 0.5


def test_a_threshold_of_another_row_or_of_numbers_computed_again_is_a_number_of_its_own() -> None:
    torch.manual_seed(0)
    x, w = torch.randn(8, 32), torch.randn(32, 8)

    def least(x: Any, w: Any) -> Any:  # noqa: ANN401
        return (x @ w).topk(3).values[:, -1:]

    def written(x: Any, w: Any) -> Any:  # noqa: ANN401
        s = torch.zeros(8, 9)
        s[:, :8] = x @ w
        t = s[:, :8].topk(3).values[:, -1:]
        s[:, 0] += x.sum(-1)
        return s[:, :8] >= t

    again = three_runs.Answered(lambda x, w: (x @ w) >= least(x, w), [x, w], __file__).strict[1][0][2]
    equal = x[:1].expand(8, 32).contiguous()
    turned = three_runs.Answered(lambda x, w: (s := x @ w) >= s.topk(3).values[:, -1], [equal, w], __file__)
    later = three_runs.Answered(written, [x, w], __file__).strict[1][0][2]
    assert bool((again.radius > 0).any(-1).all())
    assert int((later.radius > 0).sum()) > 0
    assert int((turned.strict[1][0][2].radius > 0).sum()) == 7, "of 8 equal numbers one has its own row's threshold"

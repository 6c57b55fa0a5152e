"""Pools of the largest numbers: a place is known where no other number may be as large, and so is the gradient."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
TWINS = "kfuzz.claims.references.torch.twins"
Answered = pytest.importorskip(f"{TWINS}.three_runs").Answered
AS_ARRAYS = pytest.importorskip(f"{TWINS}.as_arrays")
Grade = pytest.importorskip("kfuzz.oracle.sets.reference_sets").Grade
F = torch.nn.functional
POOLS: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
    ("max_pool2d", {"kernel_size": 2}, (2, 3, 7, 8)),
    ("max_pool2d", {"kernel_size": 3, "stride": 2, "padding": 1}, (2, 2, 9, 6)),
    ("max_pool2d", {"kernel_size": (2, 3), "stride": 1, "dilation": 2}, (1, 2, 9, 9)),
    ("max_pool2d", {"kernel_size": 3, "stride": 2, "ceil_mode": True}, (1, 1, 8, 8)),
    ("max_pool3d", {"kernel_size": 2}, (1, 2, 4, 5, 6)),
]


def gradient_through(name: str, options: dict[str, Any]) -> Any:  # noqa: ANN401  a function of tensors
    """The gradient of a pool of numbers that were rounded before."""

    def reference(x: Any) -> Any:  # noqa: ANN401
        y = x.detach().requires_grad_()
        made = getattr(F, name)(y * 1.1 + 0.3, **options)
        weights = torch.arange(1, made.numel() + 1, dtype=x.dtype).reshape(made.shape)
        return torch.autograd.grad((made * weights).sum(), y)[0]

    return reference


def grades(sets: Any, got: Any) -> Any:  # noqa: ANN401  of each element
    (made,) = AS_ARRAYS.grade_answer(sets, [got])
    return torch.from_numpy(made)


@pytest.mark.parametrize(("name", "options", "shape"), POOLS)
def test_a_gradient_goes_to_the_place_of_the_largest_number(
    name: str, options: dict[str, Any], shape: tuple[int, ...]
) -> None:
    """Any place of a window was possible as soon as its numbers were rounded: the gradient was not judged at all."""
    reference = gradient_through(name, options)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    sets = AS_ARRAYS.reference_sets(Answered(reference, [x]))
    right = reference(x)
    assert bool((grades(sets, right) == Grade.KEPT).all())
    for wrong in (reference(-x), right.roll(1, -1), right.clamp(max=float(right.max()) * 0.99)):
        made = grades(sets, wrong)
        assert bool((made == Grade.BROKEN).any())
        assert not bool((made == Grade.UNJUDGED).any())


def test_of_equal_numbers_either_may_get_the_gradient_and_no_other_window_is_open() -> None:
    reference = gradient_through("max_pool2d", {"kernel_size": 2})
    x = torch.randn((1, 1, 4, 4), generator=torch.Generator().manual_seed(2))
    x[0, 0, :2, :2] = torch.tensor([[2.0, 1.0], [0.0, 2.0]])
    sets = AS_ARRAYS.reference_sets(Answered(reference, [x]))
    right = reference(x)
    other = right.clone()
    other[0, 0, 0, 0], other[0, 0, 1, 1] = right[0, 0, 1, 1], right[0, 0, 0, 0]
    for answer in (right, other):
        assert bool((grades(sets, answer) == Grade.KEPT).all())
    wrong = right.clone()
    wrong[0, 0, 2:, 2:] = wrong[0, 0, 2:, 2:].flip(-1)
    assert bool((grades(sets, wrong) == Grade.BROKEN).any())
    assert bool((grades(sets, right * 3)[0, 0, :2, :2] == Grade.BROKEN).any())

"""Which numbers of an answer follow from infinities and NaNs that the maker of the inputs never makes.

A run in which these numbers may be anything has another set wherever they count: of max(x, 0) at -inf, and of a row of
a softmax with one of them. Knows a reference's runs; it knows no grade.
"""

from collections.abc import Mapping, Sequence

import torch

from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.claims.references.torch.twins.leaves import GivenInputs, tensors_among
from kfuzz.claims.references.torch.twins.run import TwinRun
from kfuzz.claims.references.torch.twins.sets import Ranked, UnstableError
from kfuzz.claims.references.torch.twins.three_runs import Answered, OutputSet, UnfollowedError


def are_finite(one: torch.Tensor) -> bool:
    """Whether no number is an infinity or NaN."""
    return not one.is_floating_point() or bool(one.isfinite().all())


def odd_elements(
    answered: Answered, places: Sequence[int], sets: Sequence[OutputSet], *, spreads: bool = False
) -> list[torch.Tensor | None]:
    """For each output which of its elements follow from such numbers at these places of the inputs; None if none do.

    `spreads`: also those that follow from numbers in one line with them, if both count in one element. A sum of the
    first elements as the sum of all less that of the others is NaN before an infinity, too.
    """
    given = tensors_among(answered.given)
    odd = {place: ~given[place].isfinite() for place in places if not are_finite(given[place])}
    if not odd:
        return [None] * len(sets)
    everywhere: list[torch.Tensor | None] = [torch.ones(one.x.shape, dtype=torch.bool) for one in sets]
    if answered.is_measured:
        return everywhere
    found = elements_from(answered, odd, sets)
    if found is None or not spreads:
        return everywhere if found is None else [*found]
    wide = {place: in_lines(mask, mixed_axes(answered, place, mask, sets, found)) for place, mask in odd.items()}
    spread = elements_from(answered, wide, sets)
    return everywhere if spread is None else [one | other for one, other in zip(found, spread, strict=True)]


def mixed_axes(
    answered: Answered, place: int, mask: torch.Tensor, sets: Sequence[OutputSet], found: Sequence[torch.Tensor]
) -> list[int]:  # fmt: skip
    """The axes of an input along which an element counts where its neighbour does. `found`: where the mask's count."""
    axes = []
    for axis in range(mask.ndim):
        beside = (mask.roll(1, axis) | mask.roll(-1, axis)) & ~mask
        made = elements_from(answered, {place: beside}, sets) if bool(beside.any()) else []
        if made is None or any(bool((one & other).any()) for one, other in zip(found, made, strict=False)):
            axes.append(axis)
    return axes


def in_lines(mask: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """Which elements are in one line along some of these axes with one of a mask."""
    for axis in axes:
        mask = mask.any(axis, keepdim=True).expand(mask.shape)
    return mask


def elements_from(
    answered: Answered, unknown: Mapping[int, torch.Tensor], sets: Sequence[OutputSet]
) -> list[torch.Tensor] | None:
    """Which elements of each output follow from these of the inputs, by their places; None if no run says it."""

    def forget(run: TwinRun, given: GivenInputs) -> None:
        every = tensors_among(given)
        for place, mask in unknown.items():
            one = every[place].detach()
            number = torch.where(mask & ~one.isfinite(), 0.0, one.double())
            run.twins.put(one, number, torch.where(mask, torch.inf, 0.0).double())

    try:
        _, made = answered.run(prepare=forget)
    except (UnstableError, UnfollowedError, CannotError):
        return None
    if any(other.x.shape != one.x.shape for one, (_, _, other) in zip(sets, made, strict=True)):
        return None
    found = []
    for one, (_, _, other) in zip(sets, made, strict=True):
        x = one.x.to(other.number.dtype)
        is_one_special = ((other.number == x) | (x.isnan() & other.x.isnan())) & (other.radius <= one.loosest)
        same = ((other.number - x).abs() + other.radius <= one.loosest) | is_one_special
        found.append(torch.ones_like(same) if isinstance(one.joint, Ranked) else ~same)
    return found

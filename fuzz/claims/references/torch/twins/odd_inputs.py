"""Which numbers of an answer follow from infinities and NaNs that the maker of the inputs never makes.

A run in which these numbers may be anything has another set wherever they count: of max(x, 0) at -inf, and of a row of
a softmax with one of them. Knows a reference's runs; it knows no grade.
"""

from collections.abc import Sequence

import torch

from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.claims.references.torch.twins.leaves import GivenInputs, tensors_among
from kfuzz.claims.references.torch.twins.run import TwinRun
from kfuzz.claims.references.torch.twins.sets import Ranked, UnstableError
from kfuzz.claims.references.torch.twins.three_runs import Answered, OutputSet, UnfollowedError


def are_finite(one: torch.Tensor) -> bool:
    """Whether no number is an infinity or NaN."""
    return not one.is_floating_point() or bool(one.isfinite().all())


def odd_elements(answered: Answered, places: Sequence[int], sets: Sequence[OutputSet]) -> list[torch.Tensor | None]:
    """For each output which of its elements follow from such numbers at these places of the inputs; None if none do."""
    given = tensors_among(answered.given)
    odd = [place for place in places if not are_finite(given[place])]
    if not odd:
        return [None] * len(sets)

    def forget(run: TwinRun, given: GivenInputs) -> None:
        every = tensors_among(given)
        for one in (every[place].detach() for place in odd):
            known = one.isfinite()
            run.twins.put(one, torch.where(known, one.double(), 0.0), torch.where(known, 0.0, torch.inf).double())

    everywhere: list[torch.Tensor | None] = [torch.ones(one.x.shape, dtype=torch.bool) for one in sets]
    if answered.is_measured:
        return everywhere
    try:
        _, made = answered.run(prepare=forget)
    except (UnstableError, UnfollowedError, CannotError):
        return everywhere
    if any(other.x.shape != one.x.shape for one, (_, _, other) in zip(sets, made, strict=True)):
        return everywhere
    found: list[torch.Tensor | None] = []
    for one, (_, _, other), all_of_it in zip(sets, made, everywhere, strict=True):
        away = (other.number - one.x.to(other.number.dtype)).abs() + other.radius
        same = (away <= one.loosest) | (one.x.isnan() & other.x.isnan() & (other.radius <= one.loosest))
        found.append(all_of_it if isinstance(one.joint, Ranked) else ~same)
    return found

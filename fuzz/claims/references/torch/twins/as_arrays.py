"""The sets of a reference's outputs as arrays of numpy, as the oracle takes them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import torch

from kfuzz.claims.references.torch.twins.leaves import as_real
from kfuzz.claims.references.torch.twins.odd_inputs import odd_elements
from kfuzz.claims.references.torch.twins.sets import FP4, Ranked, RowShares, UnstableError, numbers_of
from kfuzz.claims.references.torch.twins.three_runs import Answered, DisagreementError, OutputSet, UnfollowedError
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.enclosure import Doubles, Mask
from kfuzz.oracle.sets.reference_sets import Grades, ReferenceSet, SoughtPlaces


def in_doubles(one: torch.Tensor) -> Doubles:
    """Numbers in float64; the parts of complex ones along a last axis."""
    made: Doubles = as_real(one).detach().double().contiguous().numpy()
    return made


def reference_sets(answered: Answered, finite: Sequence[int] = (), *, of_values: bool = False) -> list[ReferenceSet]:
    """The set of each output: measured where there are no twins, or these differ; of what is not judged, open.

    `finite`: the places of the inputs of which only finite numbers are promised. `of_values`: only the exact values are
    asked for.
    """
    with suppress(UnstableError):
        try:
            if of_values and not answered.is_measured:
                return [as_set(one) for one in answered.values]
            sets = answered.measured_sets if answered.is_measured else answered.sets
        except (UnfollowedError, DisagreementError):
            answered = replace(answered, is_measured=True)
            sets = answered.measured_sets
        every = zip(sets, odd_elements(answered, finite, sets), strict=True)
        return [replace(as_set(one), is_odd=None if odd is None else of_parts(odd, one.x)) for one, odd in every]
    return [as_set(one) for one in answered.open_sets]


def of_parts(odd: torch.Tensor, x: torch.Tensor) -> Mask:
    """What holds of numbers, of their parts where they are complex."""
    made: Mask = (odd.unsqueeze(-1).expand(*odd.shape, 2) if x.is_complex() else odd).numpy()
    return made


def as_set(one: OutputSet) -> ReferenceSet:
    """One output's set; the parts of a complex number have its radius."""

    def radius(r: torch.Tensor) -> Doubles:
        return in_doubles(r.unsqueeze(-1).expand(*r.shape, 2) if one.x.is_complex() else r)

    joint = one.joint if one.joint is not None and fits(one.joint, one.x) else None
    places = sought(joint) if isinstance(joint, Ranked) else None
    shares = (joint.axis, in_doubles(joint.missing)) if isinstance(joint, RowShares) else None
    return ReferenceSet(
        in_doubles(one.x), radius(one.proved), radius(one.loosest), places, one.x.dtype == torch.bool, shares=shares,
        forms=() if one.x.is_complex() else tuple((in_doubles(x), in_doubles(r)) for x, r in one.forms),
    )  # fmt: skip


def fits(joint: Ranked | RowShares, x: torch.Tensor) -> bool:
    """Whether an output has the shares as they were found; a view has its own places."""
    return isinstance(joint, Ranked) or list(joint.missing.shape) == list(x.narrow(joint.axis, 0, 1).shape)


def sought(one: Ranked) -> SoughtPlaces:
    """Places and their rows."""
    among, wanted = ((in_doubles(given.number), in_doubles(given.radius)) for given in (one.among, one.wanted))
    row, element = (given.contiguous().numpy() for given in (one.row, one.element))
    return SoughtPlaces(*among, row, *wanted, element, one.is_once, one.is_first)


def grade_answer(sets: Sequence[ReferenceSet], got: Sequence[object]) -> list[Grades] | str:
    """The grades of each output, or why an answer cannot be compared."""
    if len(sets) != len(got):
        return f"{len(got)} outputs, expected {len(sets)}"
    made = []
    for number, (one, answer) in enumerate(zip(sets, got, strict=True)):
        tensor = answer if isinstance(answer, torch.Tensor) else torch.tensor(answer)
        numbers = in_doubles(numbers_of(tensor.detach()))
        if numbers.shape != one.x.shape:
            return f"output {number} has the shape {list(numbers.shape)}, expected {list(one.x.shape)}"
        element = None if tensor.dtype == FP4 else OF_TYPE.get(tensor.dtype)
        made.append(one.grade(numbers, element))
    return made

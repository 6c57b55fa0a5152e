"""The integers that a reference's inputs may hold: as they are declared, else found by running the reference.

An index is below the size at which the reference fails. Knows torch and structures; it knows no set.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.sizes import BOOLEAN, Below, Dims, SizesOfRun, length_of
from kfuzz.oracle.op.structure import Structure, read_structure

MOST = 1 << 20
"""An integer so large that a reference takes it is no index into its arrays."""
ABSENT = "or -1"
PERMUTATION = "permutation"
MakesInputs = Callable[[Declared, SizesOfRun], dict[str, torch.Tensor]]


def structure_of(below: str, count: str) -> Structure:
    """The structure that a limit or a text of a claim means, of an array whose last dimension is `count`."""
    is_limit = below.isdigit() or (below.isidentifier() and below != PERMUTATION)
    text = f"< {below}" if is_limit else below
    found = read_structure(text, count)
    if found is None:
        raise CannotError(f"{below!r} is no structure of integers")
    return found


def declared_as(below: str, dims: str, known: Mapping[str, object]) -> str:
    """The role of an array of integers or truths, as an op's file writes it; some names have a known size."""
    if below == BOOLEAN:
        return f"bool[{dims}]"
    shown = re.sub(r"[A-Za-z_]\w*", lambda name: str(known.get(name[0], name[0])), below)
    return f"int[{dims}] {shown}" if re.search(r"\W", shown) or shown == PERMUTATION else f"int[{dims}] < {shown}"


def integers_of(below: str, dims: Sequence[str], sizes: Mapping[str, int]) -> torch.Tensor:
    """Any integers of this structure."""
    shape = [length_of(d, sizes) for d in dims]
    if below == BOOLEAN:
        return torch.randint(2, shape).bool()
    structure = structure_of(below, dims[-1])
    known = {**sizes, **{d: length_of(d, sizes) for d in dims}}
    low, high = structure.bounds(known)
    drawn = torch.randint(low, max(low, high) + 1, shape)
    return torch.from_numpy(structure.arrange(drawn.numpy(), known))


def rules_of(below: Below, dims: Dims) -> list[str]:
    """What sizes have to obey so that there are such integers."""
    known = ((name, one) for name, one in below.items() if one not in ("", ABSENT, BOOLEAN))
    return [rule for name, one in known for rule in structure_of(one, dims[name][-1]).rules]


def with_limits(
    call: Callable[..., Any], declared: Declared, every: Sequence[SizesOfRun], make: MakesInputs
) -> Declared:
    """The same inputs, with a limit for each array of integers that has none."""
    for name, below in declared.below.items():
        if below not in ("", ABSENT):
            continue
        limits = limits_at(call, declared, name, every, make)
        found = limit_in(declared, limits, every)
        if found is None:
            taken = f"it takes {limits[0] - 1}" if limits[0] < MOST else "it takes any"
            raise CannotError(
                f'which integers {name} may hold is not known ({taken}); write integers = {{ {name} = "..." }}'
            )
        text = f"< {found} {below}" if below else found if found.isidentifier() or found.isdigit() else f"< {found}"
        declared = replace(declared, below={**declared.below, name: text})
    return declared


def limits_at(
    call: Callable[..., Any], declared: Declared, name: str, every: Sequence[SizesOfRun], make: MakesInputs
) -> list[int]:
    """The limit of an array of integers at each of these sizes; MOST where the reference fails whatever they are."""
    limits = []
    for sizes in every:
        given = make(declared, sizes)
        least = limit_at(call, name, given)
        if least == MOST:  # perhaps no segment that was drawn has an index
            least = limit_at(call, name, with_even_segments(declared, given))
        limits.append(least)
    return limits


def limit_in(declared: Declared, limits: Sequence[int], every: Sequence[SizesOfRun]) -> str | None:
    """The dimension that has these limits, at all sizes at which there is one."""
    known = [(limit, sizes) for limit, sizes in zip(limits, every, strict=True) if limit < MOST]
    if not known or (len(known) < len(limits) and limits[0] == MOST):
        return None
    fits = (one for one in candidates(declared.dims) if all(length_of(one, sizes) == limit for limit, sizes in known))
    return next(fits, None)


def with_even_segments(declared: Declared, given: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The inputs with offsets that cut everything into segments of nearly one length."""
    made = dict(given)
    for name, below in declared.below.items():
        held = given[name]
        is_cut = below not in ("", ABSENT, BOOLEAN) and structure_of(below, declared.dims[name][-1]).order == "rises"
        if is_cut and held.shape[-1] > 1:
            steps = torch.arange(held.shape[-1], dtype=held.dtype)
            made[name] = (steps * held[..., -1:] // (held.shape[-1] - 1)).expand(held.shape).contiguous()
    return made


def limit_at(call: Callable[..., Any], name: str, given: Mapping[str, torch.Tensor]) -> int:
    """The least integer with which the reference fails everywhere in an array; MOST if there is none below."""

    def does_run(number: int) -> bool:
        try:
            call(*{**given, name: torch.full_like(given[name], number)}.values())
        except Exception:  # of the user's code, or of torch
            return False
        return True

    low, high = 0, 1
    while high < MOST and does_run(high):
        low, high = high, 2 * high
    if high >= MOST or (low == 0 and not does_run(0)):
        return MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if does_run(middle) else (low, middle)
    return high


def candidates(inputs: Dims) -> Iterator[str]:
    """The sizes of arrays, and of two neighbouring axes as one."""
    yield from (d for dims in inputs.values() for d in dims if d.isidentifier())
    yield from (d for dims in inputs.values() for d in dims if not d.isidentifier() and not d.isdigit())
    yield from (f"{one} * {other}" for dims in inputs.values() for one, other in pairwise(dims))
    yield from (d for dims in inputs.values() for d in dims if d.isdigit())

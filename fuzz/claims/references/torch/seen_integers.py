"""The integers of an input as `get_inputs` makes them under several seeds, whatever Python it is.

Knows tensors; it knows no reference.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from kfuzz.devices.python.torch.drawn_inputs import set_seeds
from kfuzz.devices.python.torch.own_seeds import mixed_seeds

SEEDS = 4
MOST_ELEMENTS, MOST_BESIDE = 1 << 24, 1 << 28
"""Inputs with more integers, or with more elements beside them, are not made to look at their integers."""
MANY = 4
"""So many integers in each row are not sorted by chance under every seed."""
NEARLY_ALL = 0.75
"""Integers over this part of what a byte holds may be any byte."""


def integers_seen(
    make: Callable[[], Sequence[torch.Tensor]], names: Sequence[str], wanted: Collection[str]
) -> Mapping[str, list[torch.Tensor]]:
    """Each of these tensors of integers among the inputs, as it is under several seeds."""
    every: dict[str, list[torch.Tensor]] = {}
    for seed in range(SEEDS if wanted else 0):
        set_seeds(seed)
        with mixed_seeds(seed):
            made = make()
        for name, one in zip(names, made, strict=False):
            if name in wanted and one.numel():
                every.setdefault(name, []).append(one.detach().cpu())
    return every


def is_permutation(some: Sequence[torch.Tensor]) -> bool:
    """Whether each row of these tensors, of one shape, has each place along it once."""
    counts = {one.shape[-1] for one in some if one.ndim}
    if len({one.shape for one in some}) > 1 or not counts or max(counts) < 2:
        return False
    return all(bool((one.long().sort(dim=-1).values == torch.arange(one.shape[-1])).all()) for one in some)


def structure_seen(some: Sequence[torch.Tensor]) -> str:
    """What the integers of one input have in common, as an op's file writes it."""
    wide = [one.long().reshape(-1, one.shape[-1]) if one.ndim else one.long().reshape(1, 1) for one in some]
    low, high = (int(getattr(torch.cat([one.reshape(-1) for one in wide]), of)()) for of in ("min", "max"))
    steps = torch.cat([one.diff(dim=-1).reshape(-1) for one in wide])
    is_row = wide[0].shape[-1] > 1
    is_cut = is_row and high and all(bool((one[:, 0] == 0).all() and (one[:, -1] == high).all()) for one in wide)
    if is_cut and bool((steps >= 0).all()):
        return f"rises 0..{high}{' by 1' if bool((steps > 0).all()) else ''}"
    if is_permutation(some):
        return "permutation"
    if some[0].element_size() == 1 and high - low > NEARLY_ALL * 255:
        low, high = torch.iinfo(some[0].dtype).min, torch.iinfo(some[0].dtype).max
    negative = torch.cat([one[one < 0] for one in wide]).unique()
    if len(negative) == 1 and high >= 0:  # one mark of what has no class
        low = int(torch.cat([one[one >= 0] for one in wide]).min())
        return f"{low}..{high}{' or -1' if int(negative) == -1 else ''}"
    ordered = [one.sort(dim=-1).values for one in wide]
    is_distinct = is_row and all(bool((one.diff(dim=-1) > 0).all()) for one in ordered)
    is_sorted = wide[0].shape[-1] >= MANY and bool((steps >= 0).all())
    return f"{'distinct ' if is_distinct else 'sorted ' if is_sorted else ''}{low}..{high}"


def limit_of(one: torch.Tensor, drawn: Mapping[int, int]) -> int | None:
    """The number below which integers were drawn; None if they were not drawn from 0 to there."""
    known = 2 if one.dtype == torch.bool else drawn.get(one.untyped_storage().data_ptr())
    return known if known is not None and (not one.numel() or 0 <= int(one.min()) <= int(one.max()) < known) else None


@contextmanager
def drawn_integers() -> Iterator[dict[int, int]]:
    """For each storage that torch.randint fills, the number that the integers are below; it is kept alive."""
    own, found, alive = torch.randint, dict[int, int](), list[torch.Tensor]()

    def randint(*args: Any, **options: Any) -> torch.Tensor:  # noqa: ANN401  the arguments of torch.randint
        made: torch.Tensor = own(*args, **options)
        numbers = [one for one in args if type(one) is int]
        high = options.get("high", numbers[min(1, len(numbers) - 1)] if numbers else None)
        low = options.get("low", numbers[0] if len(numbers) > 1 else 0)
        if type(high) is int and low == 0:
            found[made.untyped_storage().data_ptr()] = high
            alive.append(made)
        return made

    torch.randint = randint
    try:
        yield found
    finally:
        torch.randint = own

"""Finds the numbers of inputs that `get_inputs` makes the same in every draw, while others of their array change.

Knows what makes inputs; it knows no set.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import torch

from kfuzz.claims.references.same_numbers import SameNumbers
from kfuzz.claims.references.torch.array_inputs import as_array
from kfuzz.claims.references.torch.random_state import kept_random_state
from kfuzz.claims.references.torch.runnable import Runnable
from kfuzz.claims.references.torch.sizes import elements_of
from kfuzz.claims.references.torch.task_data import tensors_of_data
from kfuzz.devices.python.torch.drawn_inputs import PER_SEED, inputs_of_draw
from kfuzz.devices.python.torch.elements import OF_TYPE

SETTLED = (16, 32, 64)
"""Numbers that are the same in one of these counts of draws and in the next count are so by a rule. Half the numbers
after a relu are 0: of 4,096 one stays so in 16 draws by a chance of 1 in 16, and then in 32 by 1 in 65,536.
"""
MOST_ELEMENTS = 1 << 20
"""Inputs with more elements are too many for a trial of their own sizes alone."""
MOST_SECONDS = 3
"""After so long no draw is made, and no number counts as the same."""


def same_numbers(known: Runnable, path: Path) -> dict[str, SameNumbers]:
    """Those of each input of floats that has some, by its name; none if nothing is known of what get_inputs makes."""
    declared = known.declared
    if known.name_inputs is None or not callable(getattr(known.module, "get_inputs", None)):
        return {}
    if elements_of(declared.dims, {**declared.sizes, **declared.fixed}) > MOST_ELEMENTS:
        return {}
    free = known.beside["made"]["free"] if "made" in known.beside else declared.dims
    try:
        return settled_in(floats_drawn(known, path), {*free} - declared.below.keys())
    except Exception:  # of their code, or of torch: nothing is known of what it makes
        return {}


def floats_drawn(known: Runnable, path: Path) -> Iterator[dict[str, torch.Tensor]]:
    """The inputs of floats in one draw of get_inputs after another, by their names."""
    assert known.module is not None, "get_inputs makes them"
    assert known.name_inputs is not None, "as above"
    for seed in range(SETTLED[-1]):
        with kept_random_state():
            data = inputs_of_draw(known.module.get_inputs, path, PER_SEED * seed)
        every = zip(known.name_inputs(data), tensors_of_data(data), strict=False)
        yield {
            name: as_array(one).double()
            for name, one in every
            if one.dtype == torch.complex64 or (one.dtype in OF_TYPE and OF_TYPE[one.dtype].is_float)
        }


def settled_in(draws: Iterator[Mapping[str, torch.Tensor]], names: Collection[str]) -> dict[str, SameNumbers]:
    """The same numbers of arrays of these names, where more draws leave as many of them."""
    first, started = next(draws), time.thread_time()
    same = {name: torch.ones_like(one, dtype=torch.bool) for name, one in first.items() if name in names}
    before = dict[str, int]()
    for count, arrays in enumerate(draws, 2):
        same = {name: one & are_equal(first[name], arrays.get(name)) for name, one in same.items()}
        same = {name: one for name, one in same.items() if one.any() and not one.all()}
        if not same or time.thread_time() - started > MOST_SECONDS:
            return {}
        if count in SETTLED:
            counts = {name: int(one.sum()) for name, one in same.items()}
            same = same if count < SETTLED[-1] else {name: same[name] for name in same if counts[name] == before[name]}
            if counts == before:
                break
            before = counts
    return {name: SameNumbers.of(one.numpy(), first[name].numpy()) for name, one in same.items()}


def are_equal(one: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """The places at which two arrays have one number, or both a NaN; none if they have other shapes."""
    if other is None or one.shape != other.shape:
        return torch.zeros_like(one, dtype=torch.bool)
    return (one == other) | (one.isnan() & other.isnan())

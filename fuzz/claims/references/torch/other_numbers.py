"""Other numbers in the place of floats that get_inputs makes, and whether a reference takes them.

Knows containers of tensors; it does not know what makes them.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch

from kfuzz.claims.references.torch.given import as_made, call_reference
from kfuzz.claims.references.torch.task_data import Keys, at
from kfuzz.claims.references.torch.twins.leaves import leaves
from kfuzz.devices import inside, with_values

MOST_SECONDS = 5
"""After so long no further input is tried with numbers of kfuzz."""
DRAWS, SECONDS_OF_DRAWS = 8, 0.25
"""So many draws of normal numbers are tried, or fewer if these take longer: exp(-s n) is finite under half of them."""


def put(data: Any, keys: Keys, one: torch.Tensor) -> Any:  # noqa: ANN401  containers of tensors
    """The same containers with another tensor at a place, as the one there: of its shape, and with its gradient."""
    if not keys:
        made = as_made(one, data)
        return made.detach().requires_grad_() if data.requires_grad else made
    held = dict(inside(data) or {})
    return with_values(data, {**held, keys[0]: put(held[keys[0]], keys[1:], one)})


def without_own_domain(
    places: Sequence[Keys], make: Callable[[int], Any], reference: Callable[..., Any]
) -> Iterator[Keys]:
    """The places at which the reference takes other numbers than those of get_inputs: it does not raise, and where its
    answers were finite, they are. Shares, scales and roots have numbers of their own.
    """
    known, started = finite_in(call_reference(reference, make(0))), time.process_time()
    torch.manual_seed(1)
    for keys in places:
        if time.process_time() - started > MOST_SECONDS:
            return
        if does_take_normal_numbers([keys], make, reference, known):
            yield keys


def does_take_normal_numbers(
    places: Collection[Keys], make: Callable[[int], Any], reference: Callable[..., Any], known: Sequence[bool]
) -> bool:
    """Whether the reference takes normal numbers at all of these places: it does not raise, and its answers are as
    finite as known, under several draws.
    """
    started = time.process_time()
    for _ in range(DRAWS):
        try:
            if finite_in(call_reference(reference, with_normal_numbers(make(0), places))) != known:
                return False
        except Exception:  # of their code, which does not take them
            return False
        if time.process_time() - started > SECONDS_OF_DRAWS:
            break
    return True


def with_normal_numbers(data: Any, places: Collection[Keys]) -> Any:  # noqa: ANN401  containers of tensors
    """The same containers with other numbers at these places."""
    for keys in places:
        own = at(data, keys)
        real = torch.view_as_real(own) if own.is_complex() else own.reshape(own.shape or (1,))
        with torch.no_grad():
            data = put(data, keys, torch.randn(real.shape).to(real.dtype))
    return data


def finite_in(returned: Any) -> list[bool]:  # noqa: ANN401  what a reference returns
    """Of each output of floats, whether all its numbers are."""
    every = [one.detach().float() for _, one in leaves(returned) if isinstance(one, torch.Tensor)]
    return [bool(one.isfinite().all()) for one in every]

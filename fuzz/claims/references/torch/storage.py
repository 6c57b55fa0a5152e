"""How torch's tensors lie in their storages, and which operands an operation writes.

Knows torch alone.
"""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]
"""A shape, the stride of each axis, and the place of the first element."""
EXACT_BELOW = 2**24
"""Whole numbers whose sizes add up to less than this have exact sums in float32 and wider."""


@contextmanager
def unwatched() -> Any:  # noqa: ANN401  a context
    """Let torch work without a record."""
    with _disable_current_modes(), torch.no_grad():
        yield


def name_of(op: Any) -> str:  # noqa: ANN401  an operation of torch
    """The name of an operation, without its namespace and its overload."""
    return str(op._schema.name.partition("::")[2])


def does_draw(op: Any) -> bool:  # noqa: ANN401  an operation of torch
    """Whether an operation may draw random numbers."""
    return torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())


def key_of(one: torch.Tensor) -> int:
    """A name for a tensor's storage."""
    return int(one.untyped_storage()._cdata)


def shape_of(one: torch.Tensor) -> tuple[str, ...]:
    return tuple(map(str, one.shape))


def geometry_of(one: torch.Tensor) -> Geometry:
    """How a tensor lies in its storage; the stride of an axis of one element does not matter."""
    strides = tuple(step if size != 1 else 0 for size, step in zip(one.shape, one.stride(), strict=True))
    return tuple(one.shape), strides, one.storage_offset()


def places_at(geometry: Geometry) -> Any:  # noqa: ANN401  an array
    """The place in the storage of each element."""
    shape, strides, first = geometry
    at = np.full(shape, first, np.int64)
    for axis, (size, step) in enumerate(zip(shape, strides, strict=True)):
        at = at + (np.arange(size) * step).reshape(-1, *(1,) * (len(shape) - 1 - axis))
    return at


def slices_of(geometry: Geometry, size: int) -> str:
    """The part of a row of this size as slices of an array whose last axes are these; nothing, if it has none."""
    shape, strides, first = geometry
    axes = sorted((step, axis) for axis, (n, step) in enumerate(zip(shape, strides, strict=True)) if n != 1)[::-1]
    steps = [step for step, _ in axes] + [1]
    bounds = [size, *steps]
    if not size or any(step < 1 for step in steps) or any(a % b for a, b in pairwise(bounds)):
        return ""
    wide = [a // b for a, b in pairwise(bounds)]
    taken, left = list[str](), first
    for (step, axis), length in zip(axes, wide, strict=False):
        start, left = divmod(left, step)
        if start + shape[axis] > length:
            return ""
        taken.append(f"{start}:{start + shape[axis]}")
    sizes, taken = ", ".join(map(str, wide)), [*taken, str(left)]
    order = [sorted(axis for _, axis in axes).index(axis) for _, axis in axes]
    moved = "" if order == sorted(order) else f".permuted({tuple(np.argsort(order).tolist())})"
    return f".reshaped({sizes})[{', '.join(taken)}]{moved}.reshaped({', '.join(map(str, shape))})"


def places_of(one: torch.Tensor) -> Any:  # noqa: ANN401  an array
    return places_at(geometry_of(one))


def indices_of(every: Sequence[Any]) -> tuple[Any, ...]:
    """Indices as numpy takes them."""
    return tuple(slice(None) if one is None else one.numpy() for one in every)


def exact_in_single(numbers: Any) -> bool:  # noqa: ANN401  an array
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers, equal_nan=True))


def is_view(func: Any) -> bool:  # noqa: ANN401  an operation of torch
    """Whether its results lie in its operands' memory, and nothing is written."""
    aliases = [one.alias_info for one in func._schema.returns]
    return bool(aliases) and all(one is not None and not one.is_write for one in aliases)


def written_by(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:  # noqa: ANN401
    """The operands into which it writes."""
    named = {one.name: given for one, given in zip(func._schema.arguments, args, strict=False)} | dict(kwargs)
    written = [one.name for one in func._schema.arguments if one.alias_info is not None and one.alias_info.is_write]
    return tensors_in([named.get(name) for name in written])


def tensors_in(given: Any) -> list[torch.Tensor]:  # noqa: ANN401  nested arguments
    return [one for one in flat(given) if isinstance(one, torch.Tensor)]


def flat(given: Any) -> list[Any]:  # noqa: ANN401  nested arguments
    """Everything in nested lists, tuples and dicts."""
    if isinstance(given, Mapping):
        given = list(given.values())
    return [leaf for one in given for leaf in flat(one)] if isinstance(given, list | tuple) else [given]


def are_whole(given: Any) -> bool:  # noqa: ANN401  nested arguments
    """Whether these numbers are whole and small: no partial sum of them is rounded."""
    numbers = [one for one in flat(given) if isinstance(one, int | float | torch.Tensor)]
    if any(isinstance(one, torch.Tensor) and one.element_size() < 4 and one.is_floating_point() for one in numbers):
        return False
    every = [torch.as_tensor(one).double() for one in numbers]
    return all(bool((one == one.round()).all()) and float(one.abs().sum()) < EXACT_BELOW for one in every)

"""The data of a task of GPU MODE: a tensor, or tuples, lists and dicts of tensors and numbers.

Knows such values; it does not know how they are made or what reads them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError

PLAIN = (bool, int, float, str, type(None))


def tensors_of_data(data: Any) -> list[torch.Tensor]:  # noqa: ANN401  whatever a task makes
    """The tensors in nested tuples, lists and dicts, in their order."""
    if isinstance(data, torch.Tensor):
        return [data]
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, tuple | list):
        return [leaf for one in data for leaf in tensors_of_data(one)]
    if not isinstance(data, PLAIN):
        raise CannotError(f"its data holds a {type(data).__name__}, which is neither tensor, number nor container")
    return []


def numbers_of_data(data: Any) -> list[int]:  # noqa: ANN401  as above
    """The whole numbers in nested tuples, lists and dicts, in their order."""
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, tuple | list):
        return [leaf for one in data for leaf in numbers_of_data(one)]
    return [data] if type(data) is int else []


def rebuilt(data: Any, tensors: Iterator[torch.Tensor], numbers: Iterator[Any] | None = None) -> Any:  # noqa: ANN401
    """The same containers with other tensors, and with other whole numbers if there are some."""
    if isinstance(data, torch.Tensor):
        return next(tensors)
    if isinstance(data, Mapping):
        return {name: rebuilt(one, tensors, numbers) for name, one in data.items()}
    if isinstance(data, tuple | list):
        made = [rebuilt(one, tensors, numbers) for one in data]
        return tuple(made) if isinstance(data, tuple) else made
    return next(numbers) if numbers is not None and type(data) is int else data


def as_text(data: Any, texts: Iterator[str], numbers: Iterator[str]) -> str:  # noqa: ANN401  as above
    """The data as an expression of Python, with a text for each tensor and for each whole number."""
    if isinstance(data, torch.Tensor):
        return next(texts)
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{name!r}: {as_text(one, texts, numbers)}" for name, one in data.items()) + "}"
    if isinstance(data, tuple | list):
        inside = "".join(f"{as_text(one, texts, numbers)}, " for one in data).strip()
        return f"({inside})" if isinstance(data, tuple) else f"[{inside}]"
    return next(numbers) if type(data) is int else repr(data)


def names_of(tops: Sequence[str], data: Any) -> list[str]:  # noqa: ANN401  as above
    """A name for each tensor: that by which the reference unpacks it, if so many, its key, or `x0` and so on."""
    count = len(data) if isinstance(data, tuple | list) else 0
    tops = tops if len(tops) == count else [f"x{number}" for number in range(count)]
    names: list[str] = []

    def visit(one: object, name: str) -> None:
        if isinstance(one, torch.Tensor):
            names.append(name if name not in names else f"{name}_{len(names)}")
        elif isinstance(one, Mapping):
            for key, value in one.items():
                visit(value, as_name(str(key), name))
        elif isinstance(one, tuple | list):
            for place, value in enumerate(one):
                visit(value, f"{name}_{place}")

    if isinstance(data, tuple | list):
        for name, one in zip(tops, data, strict=True):
            visit(one, name)
    else:
        visit(data, "x")
    return names


def as_name(key: str, container: str) -> str:
    """A key as a name; that of its container with a number is the same text, and stands before it."""
    made = re.sub(r"\W", "_", key)
    return made if made.isidentifier() else f"{container}_{made}"


def order_in_memory(one: torch.Tensor) -> tuple[int, ...]:
    """The axes from the one with the largest step to that with the smallest: how a transposed tensor lies in memory."""
    return tuple(sorted(range(one.ndim), key=lambda axis: (-one.stride(axis), axis)))


def in_view(one: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """A tensor that lies in memory in this order of axes, with its own order of axes."""
    return one if list(order) == sorted(order) else one.permute(back(order))


def view_text(order: Sequence[int]) -> str:
    """The text of such a view."""
    return "" if list(order) == sorted(order) else f".permute({', '.join(map(str, back(order)))})"


def back(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]

"""What a reference is handed: tensors, numbers and other objects, alone and in containers.

Knows such values; it does not know how they are made or what reads them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.devices import as_identifier, fields_of, inside, with_values

PLAIN = (bool, int, float, str, type(None))
Keys = tuple[int | str, ...]
"""How to reach a tensor: places, keys and fields from the outermost container on."""


def tensors_of_data(data: Any) -> list[torch.Tensor]:  # noqa: ANN401  as above
    """The tensors in nested containers, in their order."""
    if isinstance(data, torch.Tensor):
        return [data]
    return [leaf for one in (inside(data) or {}).values() for leaf in tensors_of_data(one)]


def tensor_places(data: Any, keys: Keys = ()) -> list[Keys]:  # noqa: ANN401  containers of tensors
    """Where the tensors are, in their order."""
    if isinstance(data, torch.Tensor):
        return [keys]
    return [place for key, one in (inside(data) or {}).items() for place in tensor_places(one, (*keys, key))]


def at(data: Any, keys: Keys) -> Any:  # noqa: ANN401  a tensor in containers
    """What lies at a place."""
    for key in keys:
        data = (inside(data) or {})[key]
    return data


def numbers_of_data(data: Any) -> list[int]:  # noqa: ANN401  as above
    """The whole numbers in nested containers, in their order."""
    held = inside(data)
    if held is not None:
        return [leaf for one in held.values() for leaf in numbers_of_data(one)]
    return [data] if type(data) is int else []


def rebuilt(data: Any, tensors: Iterator[torch.Tensor], numbers: Iterator[Any] | None = None) -> Any:  # noqa: ANN401
    """The same containers with other tensors, and with other whole numbers if there are some."""
    if isinstance(data, torch.Tensor):
        return next(tensors)
    if (held := inside(data)) is not None:
        return with_values(data, {name: rebuilt(one, tensors, numbers) for name, one in held.items()})
    return next(numbers) if numbers is not None and type(data) is int else data


def as_text(data: Any, texts: Iterator[str], numbers: Iterator[str], path: str = "") -> str:  # noqa: ANN401  as above
    """The data as an expression of Python, with a text for each tensor and for each whole number.

    `path`: the text of how to reach this value in what makes it, for one that has no literal.
    """
    if isinstance(data, torch.Tensor):
        return next(texts)
    if (held := inside(data)) is not None:
        fields = fields_of(data)
        made = {name: as_text(one, texts, numbers, path and (f"{path}.{name}" if fields else f"{path}[{name!r}]"))
                for name, one in held.items()}  # fmt: skip
        return literal_of(data, path, made)
    if type(data) is int:
        return next(numbers)
    if isinstance(data, PLAIN) and not (isinstance(data, float) and not math.isfinite(data)):
        return repr(data)
    if not path:
        raise CannotError(f"its data holds a {type(data).__name__}, which is neither tensor, number nor container")
    return path


def literal_of(data: Any, path: str, made: Mapping[Any, str]) -> str:  # noqa: ANN401  as above
    """The text of a container, by the texts of what it holds; of a named tuple or a dataclass as a copy with others."""
    held = inside(data) or {}
    if fields_of(data):
        own = [f"{name}={one}" for name, one in made.items() if one not in (f"{path}.{name}", repr(held[name]))]
        return f"replace({', '.join((path, *own))})" if own else path
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{name!r}: {one}" for name, one in made.items()) + "}"
    within = ", ".join(made.values())
    return f"({within}{',' * (len(made) == 1)})" if isinstance(data, tuple) else f"[{within}]"


def names_of(tops: Sequence[str], data: Any) -> list[str]:  # noqa: ANN401  as above
    """A name for each tensor: that by which the reference unpacks it, if so many, its key, or `x0` and so on."""
    count = len(data) if isinstance(data, tuple | list) else 0
    tops = tops if len(tops) == count else [f"x{number}" for number in range(count)]
    names: list[str] = []

    def visit(one: object, name: str) -> None:
        if isinstance(one, torch.Tensor):
            names.append(name if name not in names else f"{name}_{len(names)}")
            return
        for key, value in (inside(one) or {}).items():
            visit(value, as_identifier(key, name) if isinstance(key, str) else f"{name}_{key}")

    if isinstance(data, tuple | list):
        for name, one in zip(tops, data, strict=True):
            visit(one, as_identifier(name, "x"))
    else:
        visit(data, "x")
    return names


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

"""What a call gives: the tensors and numbers of whatever it returns, and the inputs that it writes into.

Knows Python's containers; it knows no twin.
"""

import copy
import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import torch

GivenInputs = Sequence[Any] | Mapping[str, Any]
"""The arguments of a call: in their order, or by name."""
Leaf = tuple[str, Any]
"""A tensor or a number, and where it is: `y`, `y[1]`, `y.scale`."""


def leaves(value: Any, name: str = "y") -> Iterator[Leaf]:  # noqa: ANN401  what a reference returns
    """Every tensor and number in a value; None is an output that is not there."""
    if isinstance(value, torch.Tensor | bool | int | float | complex):
        yield name, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from leaves(one, f"{name}.{key}")
    elif hasattr(value, "_asdict"):
        yield from leaves(value._asdict(), name)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for place, one in enumerate(value):
            yield from leaves(one, f"{name}[{place}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from leaves({key.name: getattr(value, key.name) for key in dataclasses.fields(value)}, name)


def tensors_among(given: GivenInputs) -> list[torch.Tensor]:
    """The tensors among the arguments of a call, wherever they are."""
    return [one for _, one in leaves(given) if isinstance(one, torch.Tensor)]


def call_with(function: Callable[..., Any], given: GivenInputs) -> list[Leaf]:
    """The leaves of what a call returns, and then the inputs that it changed: these are outputs, too."""
    every = [(name, one) for name, one in leaves(given, "input") if isinstance(one, torch.Tensor)]
    before = [one._version for _, one in every]
    made = function(**given) if isinstance(given, Mapping) else function(*given)
    changed = [leaf for leaf, was in zip(every, before, strict=True) if leaf[1]._version != was]
    return [*leaves(made), *changed]


def fresh(given: GivenInputs) -> GivenInputs:
    """A copy of the arguments, for a call that may change them."""
    return copy.deepcopy(given)


def named_outputs(every: Sequence[str], inputs: Collection[str]) -> list[str]:
    """A name for each output, as an op's file has them: the key of a dict, else `y`, or `y0`, `y1` and so on."""
    plain = [re.sub(r"\W+", "_", one.removeprefix("y").strip(".[]")) for one in every]
    made = [
        "y" if len(every) == 1 and not name else f"y{name}" if not name or name.isdigit() else name for name in plain
    ]
    return [f"{name}_out" if name in inputs else name for name in made]

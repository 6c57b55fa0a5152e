"""What a call gives: the tensors and numbers of whatever it returns, and the inputs that it writes into.

Knows Python's containers; it knows no twin.
"""

import copy
import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from kfuzz.claims.references.torch.declared import WithoutNumbersError
from kfuzz.claims.references.torch.storage import unwatched
from kfuzz.devices import as_identifier

GivenInputs = Sequence[Any] | Mapping[str, Any]
"""The arguments of a call: in their order, or by name."""
CHANGED = "input["
"""How the name of a changed input begins, before its place."""
OUT = "_out"
"""The ending of an output with the name of an input."""
Leaf = tuple[str, Any]
"""A tensor or a number, and where it is: `y`, `y[1]`, `y.scale`."""


def leaves(value: Any, name: str = "y") -> Iterator[Leaf]:  # noqa: ANN401  what a reference returns
    """Every tensor and number in a value, of numpy's arrays as tensors; None is an output that is not there."""
    if isinstance(value, np.ndarray | np.generic):
        value = torch.from_numpy(value) if isinstance(value, np.ndarray) else value.item()
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


def as_real(one: torch.Tensor) -> torch.Tensor:
    """A tensor whose complex numbers are their two parts, along a last axis."""
    return torch.view_as_real(one.resolve_conj()) if one.is_complex() else one


def tensors_among(given: GivenInputs) -> list[torch.Tensor]:
    """The tensors among the arguments of a call, wherever they are."""
    return [one for _, one in leaves(given) if isinstance(one, torch.Tensor)]


def call_with(function: Callable[..., Any], given: GivenInputs, changed: Collection[int] | None = None) -> list[Leaf]:
    """The leaves of what a call returns, and the inputs that it changed and does not return: these are outputs, too.

    `changed`: the places of these inputs, if they are known.
    """
    every = [(name, one) for name, one in leaves(given, "input") if isinstance(one, torch.Tensor)]
    before = [state_of(one) for _, one in every] if changed is None else []
    made = list(leaves(function(**given) if isinstance(given, Mapping) else function(*given)))
    returned = {id(one) for _, one in made}
    places = changed
    if places is None:
        found = enumerate(zip(every, before, strict=True))
        places = [place for place, ((_, one), was) in found if id(one) not in returned and is_changed(one, *was)]
    return [*made, *(every[place] for place in places)]


def answer_of(function: Callable[..., Any], given: GivenInputs, changed: Collection[int] | None) -> list[Leaf]:
    """The leaves of a call; a WithoutNumbersError if one of them has only a shape."""
    made = call_with(function, given, changed)
    for name, one in made:
        if isinstance(one, FakeTensor) or (isinstance(one, torch.Tensor) and one.is_meta):
            raise WithoutNumbersError(name, "a FakeTensor" if isinstance(one, FakeTensor) else "on the device meta")
    return made


def reused_by(function: Callable[..., Any], given: Sequence[torch.Tensor]) -> tuple[list[int], list[int]]:
    """The places of the tensors that a call changes, and of the leaves that it returns in the memory of one of them."""
    before = list(map(state_of, given))
    made = list(leaves(function(*given)))
    changed = [place for place, (one, was) in enumerate(zip(given, before, strict=True)) if is_changed(one, *was)]
    memory = {one.untyped_storage().data_ptr() for one in given if one.numel()}
    shared = [isinstance(one, torch.Tensor) and one.untyped_storage().data_ptr() in memory for _, one in made]
    return changed, [place for place, is_shared in enumerate(shared) if is_shared]


def state_of(one: torch.Tensor) -> tuple[int, torch.Tensor]:
    """The version of a tensor and a copy of its bits: a batch norm writes running values, and counts no version."""
    return one._version, bits_of(one)


def is_changed(one: torch.Tensor, version: int, bits: torch.Tensor) -> bool:
    """Whether a tensor differs from its state before."""
    return one._version != version or not torch.equal(bits_of(one), bits)


def bits_of(one: torch.Tensor) -> torch.Tensor:
    """A copy of a tensor's bits."""
    with unwatched():
        return one.detach().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def fresh(given: GivenInputs) -> GivenInputs:
    """A copy of the arguments, for a call that may change them."""
    return copy.deepcopy(given)


def named_outputs(every: Sequence[str], inputs: Collection[str], sizes: Collection[str] = ()) -> list[str]:
    """A name for each output, as an op's file has them: the key of a dict, else `y`, or `y0`, `y1` and so on; of a
    changed input its own. None is that of a size, or of another output.
    """
    own = list(inputs)
    made: list[str] = []
    for one in every:
        plain = re.sub(r"\W+", "_", one.removeprefix("y").strip(".[]"))
        if one.startswith(CHANGED):
            plain = own[int(one[len(CHANGED) : -1])]
        elif not plain or plain.isdigit():
            plain = "y" if len(every) == 1 else f"y{plain}"
        name = as_identifier(plain, "y")
        name = f"{name}{OUT}" if name in inputs else f"y_{name}" if name in sizes else name
        while name in made or name in inputs:
            name += "_"
        made.append(name)
    return made

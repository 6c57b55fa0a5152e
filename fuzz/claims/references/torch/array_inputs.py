"""The inputs of a reference for a kernel that takes nothing but arrays: whatever get_inputs makes, as in `drawn`.

A case says under which draw, in the first place of one array, the holder. Floats that kfuzz draws are those of the case
in every other draw; all else is as get_inputs makes it, in each. Knows get_inputs and torch's tensors; it knows no set.
"""

import enum
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.changed_integers import TextMaker
from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.drawn import SEEDS, drawn_inputs_of, draws_of
from kfuzz.claims.references.torch.given import MadeInputs, call_reference, is_whole, names_of_inputs
from kfuzz.claims.references.torch.origins import origins_of
from kfuzz.claims.references.torch.other_numbers import does_take_normal_numbers, finite_in
from kfuzz.claims.references.torch.sizes import BOOLEAN, Dims
from kfuzz.claims.references.torch.task_data import PLAIN, tensors_of_data
from kfuzz.claims.references.torch.twins.leaves import as_real
from kfuzz.devices import inside
from kfuzz.devices.python.torch.drawn_inputs import PER_SEED
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.elements import BOOL, F32

CONSTANTS = (*PLAIN, torch.dtype, torch.device, torch.layout, enum.Enum)
"""Types of values that a kernel has in its text, if they are the same in each draw."""
LEAST = 2
"""A size below this needs no name."""
DrawMaker = Callable[[int], Any]


@dataclass(frozen=True)
class ArrayInputs:
    """`given`: the reference as a function of arrays alone. `free`: those that kfuzz draws in every other draw.
    `most`: the number of draws. `holder`: the array whose first place has the draw's number in a case.
    """

    given: MadeInputs
    free: Collection[str]
    most: int
    holder: str

    @property
    def declared(self) -> Declared:
        return self.given.declared

    @property
    def texts(self) -> tuple[str, ...]:
        """How a function gets them: a kernel has the numbers among these in its text."""
        return self.given.texts

    def as_json(self) -> dict[str, Any]:
        """What a run has to know of them."""
        return {**self.given.as_json(), "draws": self.most}

    @property
    def made(self) -> dict[str, Any]:
        """What an op's file says of them."""
        return {"holder": self.holder, "most": self.most, "per_seed": PER_SEED, "free": list(self.free)}


def array_inputs_of(module: ModuleType, reference: Callable[..., Any], path: Path) -> ArrayInputs:
    """The inputs of a reference in this way; a CannotError if something else than arrays differs from draw to draw."""
    make = draws_of(module, path)
    drawn = drawn_inputs_of(make, reference, origins_of(module.get_inputs, path).kept)
    seeds = SEEDS if drawn.most > PER_SEED else 1
    every = [make(PER_SEED * seed) for seed in range(seeds)]
    check_arrays_alone(every)
    tensors = dict(zip(names_of_inputs(reference, every[0]), tensors_of_data(every[0]), strict=True))
    if not tensors:
        raise CannotError("get_inputs makes no tensor")
    places = [one.keys for one in drawn.arrays if not one.is_changed]
    are_free = does_take_normal_numbers(places, make, reference, finite_in(call_reference(reference, make(0))))
    free = [one.name for one in drawn.arrays if one.keys in places and are_free]
    declared = declared_arrays(tensors, drawn.most, make)
    gradients = [place for place, one in enumerate(tensors.values()) if one.requires_grad]
    given = MadeInputs(declared, every[0], gradients=gradients)
    return ArrayInputs(given, free, drawn.most, holder_in(tensors, free))


def known_arrays(module: ModuleType, path: Path, known: MadeInputs, most: int) -> MadeInputs:
    """The same inputs with what makes them, where they are known."""
    names = list(known.declared.dims)
    return replace(known, declared=replace(known.declared, made=maker_of(names, draws_of(module, path), most)))


def declared_arrays(tensors: Mapping[str, torch.Tensor], most: int, make: DrawMaker) -> Declared:
    """These tensors as inputs of one size."""
    types = {name: element_of(name, one) for name, one in tensors.items()}
    dims: Dims = {name: [str(size) for size in as_real(one).shape] or ["1"] for name, one in tensors.items()}
    below = {
        name: BOOLEAN if one.dtype == torch.bool else f"0..{min(most - 1, torch.iinfo(one.dtype).max)}"
        for name, one in tensors.items() if one.dtype == torch.bool or is_whole(one)
    }  # fmt: skip
    whole = {name: kind for name, kind in types.items() if kind not in (F32.name, BOOL.name)}
    narrow = {
        name: one.dtype for name, one in tensors.items()
        if one.is_floating_point() and OF_TYPE[one.dtype].is_narrow
    }  # fmt: skip
    return Declared(dims, below, {}, {}, whole, narrow, made=maker_of(list(tensors), make, most))


def element_of(name: str, one: torch.Tensor) -> str:
    """The type of a tensor's elements as an array."""
    if one.dtype == torch.complex64:
        return F32.name
    if one.dtype not in OF_TYPE:
        raise CannotError(f"{name} is a tensor of {one.dtype}, of which kfuzz has no arrays")
    return OF_TYPE[one.dtype].name


def maker_of(names: Collection[str], make: DrawMaker, most: int) -> Callable[[int], dict[str, torch.Tensor]]:
    """What makes the tensors under a seed, as arrays."""

    def made(seed: int) -> dict[str, torch.Tensor]:
        every = tensors_of_data(make(PER_SEED * seed % most))
        return {name: as_array(one) for name, one in zip(names, every, strict=True)}

    return made


def as_array(one: torch.Tensor) -> torch.Tensor:
    """A tensor as the array of a kernel: without gaps, with one axis or more, a complex number as two parts."""
    real = as_real(one.detach())
    return real.reshape(real.shape or (1,)).contiguous().clone()


def holder_in(tensors: Mapping[str, torch.Tensor], free: Collection[str]) -> str:
    """The array whose first place says the draw: one of integers, else one that get_inputs always makes."""
    integers = [name for name, one in tensors.items() if is_whole(one) and one.numel()]
    others = [name for name, one in tensors.items() if name not in free and one.numel()]
    return next(iter((*integers, *others, *tensors)))


def check_arrays_alone(every: Collection[Any]) -> None:
    """Refuse inputs of which a kernel cannot have all: an object, or a number that differs from draw to draw."""
    first, *others = (list(constants_in(one)) for one in every)
    for one in first:
        if not isinstance(one, CONSTANTS):
            raise CannotError(f"it hands over a {type(one).__name__}, which only Python has")
    if any(list(map(repr, one)) != list(map(repr, first)) for one in others):
        raise CannotError("it hands over a number that differs from draw to draw and is no array")


def constants_in(data: Any) -> Any:  # noqa: ANN401  containers of tensors
    """All in nested containers that is no tensor."""
    held = inside(data)
    if held is not None:
        for one in held.values():
            yield from constants_in(one)
    elif not isinstance(data, torch.Tensor):
        yield data


def arrays_at(make: DrawMaker, declared: Declared, draw: int) -> dict[str, torch.Tensor]:
    """The arrays of a draw; of the first one where get_inputs raises under this seed, or makes other shapes."""
    dims = list(declared.dims.values())
    for one in (draw, draw % PER_SEED):
        try:
            every = list(map(as_array, tensors_of_data(make(one))))
        except Exception:  # noqa: S112  of their code, under this seed
            continue
        if [[str(size) for size in of.shape] for of in every] == dims:
            return dict(zip(declared.dims, every, strict=True))
    raise CannotError("get_inputs no longer makes what it made")


@dataclass(frozen=True)
class SizeNames:
    """The dimensions of inputs and of answers as a kernel may name them, and the sizes of these names."""

    inputs: Dims
    outputs: Dims
    sizes: Mapping[str, int]


def names_of_sizes(
    module: ModuleType, source: str, inputs: Dims, outputs: Dims, integers: Collection[str]
) -> SizeNames:
    """A name for each size of the inputs, so that a kernel gets it: that of the text, else one by its array.

    Integers that are one more than a size of the text or of an answer are called so: offsets are `rows + 1`.
    """
    maker = TextMaker(module, source)
    said = {maker.home(place): name for place, name in enumerate(maker.names) if name}
    answered = {int(size) for dims in outputs.values() for size in dims}
    found, taken = dict[int, str](), {*inputs, *outputs}

    def name_of(size: int, usual: str) -> str:
        if size not in found:
            name = said.get(size, usual)
            while name in taken:
                name += "_"
            taken.add(name)
            found[size] = name
        return found[size]

    def name_at(role: str, axis: int) -> str:
        size, usual, is_last = int(inputs[role][axis]), f"{role}_{axis}", axis == len(inputs[role]) - 1
        if size < LEAST:
            return str(size)
        is_longer = size - 1 in said or (size - 1 in answered and size not in said)
        is_longer &= is_last and role in integers and size > LEAST
        return f"{name_of(size - 1, usual)} + 1" if is_longer else name_of(size, usual)

    named = {role: [name_at(role, axis) for axis in range(len(dims))] for role, dims in inputs.items()}
    return SizeNames(
        named,
        {role: [found.get(int(size), size) for size in dims] for role, dims in outputs.items()},
        {name: size for size, name in found.items()},
    )

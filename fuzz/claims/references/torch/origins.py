"""How get_inputs makes each tensor: drawn by itself, or computed, so that its numbers fit others or have a rule.

Knows torch's operations and the memory that they read and write; it knows no reference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from kfuzz.claims.references.torch.storage import does_draw, is_view, key_of, name_of, tensors_in, unwatched
from kfuzz.claims.references.torch.task_data import Keys, at, tensor_places
from kfuzz.devices.python.torch.drawn_inputs import as_arguments, inputs_of_draw
from kfuzz.devices.python.torch.modes import UncompiledMode

EMPTY = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"}
CONSTANT = {
    "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "fill",
    "zero", "scalar_tensor", "lift_fresh", *EMPTY,
}  # fmt: skip
"""The operations that read no element of a tensor, and draw none."""
COUNTS = {"arange", "linspace", "logspace"}
DRAWS = {"rand", "randn", "rand_like", "randn_like", "normal", "uniform", "exponential", "log_normal", "cauchy"}
"""The operations that draw floats of a range in which each number may be drawn."""
MOVES = {"clone", "copy", "_to_copy", "cat", "stack", "flip", "_unsafe_view", "_reshape_copy", "roll"}
"""The operations that place each element once, as it is."""


@dataclass(frozen=True, eq=False)
class StorageContent:
    """The elements of a storage at some time, and the parts of others from which they were computed.

    `is_bound`: not each number may be there. `is_constant`: the same under each seed. `is_plain`: of constants that
    fit no other tensor, since their elements do not differ.
    """

    sources: Sequence[tuple["StorageContent", "StoragePart"]] = ()
    is_bound: bool = False
    is_constant: bool = False
    is_plain: bool = False
    is_empty: bool = False


@dataclass(frozen=True)
class StoragePart:
    """The elements of a storage that a tensor has, in its order."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    elements: int

    @classmethod
    def of(cls, one: torch.Tensor) -> "StoragePart":
        elements = one.untyped_storage().nbytes() // one.element_size()
        return cls(tuple(one.shape), one.stride(), int(one.storage_offset()), elements)

    @property
    def whole(self) -> "StoragePart":
        return StoragePart((self.elements,), (1,), 0, self.elements)

    @property
    def is_whole(self) -> bool:
        """Whether no element is left out."""
        return prod(self.shape) >= self.elements and bool(self.marks.all())

    @property
    def marks(self) -> torch.Tensor:
        """Which elements they are."""
        with unwatched(), torch.device("cpu"):
            marks = torch.zeros(self.elements, dtype=torch.bool)
            marks.as_strided(self.shape, self.strides, self.offset).fill_(True)
            return marks

    def overlaps(self, other: "StoragePart") -> bool:
        if self == other or self.elements != other.elements:  # of another type, such as bytes
            return True
        return bool((self.marks & other.marks).any())


StoragePlace = tuple[StorageContent, StoragePart]


class OriginsMode(UncompiledMode):
    """Notes what each operation reads and writes."""

    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[int, StorageContent] = {}
        self.alive: list[StorageWeakRef] = []
        """No other storage takes the name of one that is gone."""

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  an operation of torch
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  what torch returns
        del types
        given = dict(kwargs or {})
        named = {one.name: given.get(one.name) for one in func._schema.arguments}
        named |= {one.name: value for one, value in zip(func._schema.arguments, args, strict=False)}
        into = [one.name for one in func._schema.arguments if one.alias_info is not None and one.alias_info.is_write]
        read = [(self.place_of(one), one.dtype) for one in tensors_in([named[key] for key in named if key not in into])]
        changed = [(one, self.place_of(one)) for one in tensors_in([named[name] for name in into])]
        made = func(*args, **given)
        if is_view(func):
            return made
        new: list[tuple[torch.Tensor, StoragePlace | None]] = [(one, None) for one in tensors_in(made)]
        for one, before in changed or new:
            self.note(one, content_of(func, one, read, before))
        return made

    def place_of(self, one: torch.Tensor) -> StoragePlace:
        """The elements of a tensor; those of an unknown origin, such as numpy's, count as drawn."""
        if key_of(one) not in self.contents:
            self.note(one, StorageContent(is_constant=one.numel() == 1, is_plain=one.numel() == 1))
        return self.contents[key_of(one)], StoragePart.of(one)

    def note(self, one: torch.Tensor, content: StorageContent) -> None:
        if key_of(one) not in self.contents:
            self.alive.append(StorageWeakRef(one.untyped_storage()))
        self.contents[key_of(one)] = content


def content_of(
    func: Any,  # noqa: ANN401  an operation of torch
    made: torch.Tensor,
    read: Sequence[tuple[StoragePlace, torch.dtype]],
    before: StoragePlace | None,
) -> StorageContent:
    """What a storage holds after an operation wrote a tensor there; `before`: what that tensor was."""
    name, draws = name_of(func).removesuffix("_"), does_draw(func)
    is_fresh = draws or name in CONSTANT or name == "copy"
    sources = [] if name.endswith("_like") or name.startswith("new_") else [place for place, _ in read]
    sources += [before] if before and not is_fresh else []
    is_float, is_bound = has_floats(made.dtype), any(content.is_bound for content, _ in sources)
    if name in DRAWS | CONSTANT | COUNTS | MOVES or is_pointwise(func):
        is_bound |= is_float and any(not has_floats(kind) and not one.is_constant for (one, _), kind in read)
        pairs = [pair for two in combinations(sources, 2) for pair in common_parts(*two)]
        is_bound |= any(one != other or name in MOVES for one, other in pairs)
    else:
        is_bound |= is_float or not draws
    is_constant = not draws and all(one.is_constant for one, _ in sources)
    is_plain = is_constant and name not in COUNTS and all(one.is_plain for one, _ in sources)
    if before and not before[0].is_empty and not before[1].is_whole:  # the others stay
        is_bound |= before[0].is_bound or before[0].is_constant != is_constant
        is_constant, is_plain = is_constant & before[0].is_constant, is_plain & before[0].is_plain
        sources.append((before[0], before[1].whole))
    return StorageContent(sources, is_bound, is_constant, is_plain, name in EMPTY)


def has_floats(dtype: torch.dtype) -> bool:
    return bool(dtype.is_floating_point or dtype.is_complex)


@cache
def is_pointwise(func: Any) -> bool:  # noqa: ANN401  an operation of torch
    """Whether an element of the result follows from those in its place."""
    return bool(torch.Tag.pointwise in func.tags)


def common_parts(one: StoragePlace, other: StoragePlace) -> Iterator[tuple[StoragePart, StoragePart]]:
    """The parts of numbers from which both were computed, as each of them reads these."""
    common = {id(content): content for content in every_source(one) if not content.is_plain}
    common = {id(content): content for content in every_source(other) if id(content) in common}
    reads = [list(first_within(place, common)) for place in (one, other)]
    for content, part in reads[0]:
        for content_too, its in reads[1]:
            if content is content_too and part.overlaps(its):
                yield part, its


def every_source(place: StoragePlace) -> Iterator[StorageContent]:
    """All from which the elements there were computed, with themselves."""
    met, open_ = {id(place[0])}, [place[0]]
    while open_:
        content = open_.pop()
        yield content
        new = [one for one, _ in content.sources if id(one) not in met]
        met.update(map(id, new))
        open_ += new


def first_within(place: StoragePlace, wanted: Mapping[int, StorageContent]) -> Iterator[StoragePlace]:
    """The nearest of these contents from which the elements there were computed."""
    met, open_ = {(id(place[0]), place[1])}, [place]
    while open_:
        content, part = open_.pop()
        if id(content) in wanted:
            yield content, part
            continue
        new = [(one, its) for one, its in content.sources if (id(one), its) not in met]
        met.update((id(one), its) for one, its in new)
        open_ += new


@dataclass(frozen=True)
class Origins:
    """The places of floats whose numbers only get_inputs knows, and of all inputs that have to stay with them."""

    bound: Sequence[Keys] = ()
    kept: Sequence[Keys] = ()
    every: Sequence[Keys] = ()

    def names(self, inputs: Sequence[str]) -> list[str]:
        """The names of the bound ones, by those of all inputs."""
        return [name for keys, name in zip(self.every, inputs, strict=False) if keys in self.bound]


def origins_of(make: Callable[[], Any], path: Path, devices: Sequence[str] = ("cpu",)) -> Origins:
    """How get_inputs makes its floats, on the first of these devices that it takes; nothing if it takes none."""
    for device in devices:
        mode = OriginsMode()

        def watched(mode: OriginsMode = mode, device: str = device) -> Any:  # noqa: ANN401  containers of tensors
            with mode, torch.device(device):
                return as_arguments(make())

        try:
            return origins_in(inputs_of_draw(watched, path, 0), mode)
        except Exception:  # noqa: S112  of their code, or of torch without numbers
            continue
    return Origins()


def origins_in(data: Any, mode: OriginsMode) -> Origins:  # noqa: ANN401  containers of tensors
    """The same of the tensors in what was made."""
    tensors = {keys: at(data, keys) for keys in tensor_places(data)}
    places = {keys: mode.place_of(one) for keys, one in tensors.items()}
    floats = [keys for keys, one in tensors.items() if one.is_floating_point() or one.is_complex()]
    bound = {keys for keys in floats if places[keys][0].is_bound}
    kept = set(bound)
    for one, other in combinations(places, 2):
        first, second = places[one], places[other]
        if not {one, other} & set(floats) or first == second:
            continue
        if any(common_parts(first, second)):
            kept |= {one, other}
            bound |= set() if {one, other} & bound else {one, other}
    return Origins([*bound], [*kept], [*places])

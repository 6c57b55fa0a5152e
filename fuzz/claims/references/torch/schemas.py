"""The inputs of an operation of torch, `torch.ops.aten.addmm.default`: by its schema, and by calls that try.

A schema gives an argument's type; it says nothing about ranks, and which sizes have to be equal. The operation is
called with small tensors until it takes them: of two dimensions first, with as many sizes of their own as it allows.
Knows torch's schemas; it knows no set.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.sizes import BOOLEAN, Dims
from kfuzz.oracle.numbers.elements import I64

TENSOR, MAYBE = "Tensor", "Optional["
RANKS = (2, 3, 1, 4, 5)
"""Dimensions of a tensor, in the order in which they are tried."""
NAMES = ("rows", "cols", "inner", "depth", "width", "more", "others", "left", "right", "rest")
IMAGE = ("batch", "channels", "depth", "height", "width")
SIZES = (37, 31, 29, 23, 19, 17, 13, 11, 7, 5)
"""Sizes of the axes in a try, and backwards in another: an index may have to be no longer than what it is taken of."""
WINDOW = "3"
LAST = 40
"""The last size where an argument repeats it, as the `normalized_shape` of a layer norm does: such a size is fixed."""
LISTS = ([2], [1], [0], [1, 0], [2, 3], [1, 2, 2, 1], [LAST])
"""Lists of integers: a kernel's size, an axis, an order of axes, repeats, paddings, the last size."""
VALUES: Mapping[str, Sequence[object]] = {
    "int": (1, 0, 2), "bool": (False, True), "List[int]": LISTS, "List[bool]": ([True, True], [True]), "str": ("none",),
}  # fmt: skip
BY_NAME: Mapping[str, Sequence[object]] = {
    "stride": ([1],), "dilation": ([1],), "padding": ([0], [1, 2], [1, 2, 2, 1], 0), "output_padding": ([0],),
    "groups": (1,), "ignore_index": (-100,),
}  # fmt: skip
"""Values of arguments of which an operation has several that belong together."""
NUMBERS = (0.5, 2.0, 3.0)
"""Numbers for the scalars of an operation, in this order; a single one is 2, which a root and a power take."""
WHOLE = torch.int64
BY_WORD = {"ind": WHOLE, "target": WHOLE, "offsets": WHOLE, "condition": torch.bool, "mask": torch.bool}
"""Types of tensors by a word in their names, which are tried after floats."""
MOST_TRIES, MOST_VALUES = 12_000, 40
"""Calls that are tried, and how many of them may differ in their literals alone."""


@dataclass(frozen=True)
class Try:
    """Arguments of a call: the dimensions of each tensor and its type, and a literal for each other argument."""

    dims: Dims
    types: Mapping[str, torch.dtype]
    literals: Mapping[str, object]


def inputs_by_schema(op: Any) -> tuple[Declared, list[object]]:  # noqa: ANN401  an operation of torch
    """The inputs with which an operation runs, and a value for each of its required arguments."""
    check_is_judged(op)
    required = [one for one in op._schema.arguments if not one.has_default_value()]
    with_bounds = [one for one in op._schema.arguments if one in required or is_number(one)]
    for taken in (required, with_bounds) if with_bounds != required else (required,):
        for one in islice(tries(taken), MOST_TRIES):
            every = (
                arguments(taken, one, device, sizes) for device in ("meta", "cpu") for sizes in (SIZES, SIZES[::-1])
            )
            if all(does_run(op, made) for made in every):
                return declared_as(one), arguments(taken, one, "cpu", SIZES)
    shown = ", ".join(f"{one.type} {one.name}" for one in required)
    raise CannotError(f"kfuzz finds no inputs that {op} takes: ({shown})")


def check_is_judged(op: Any) -> None:  # noqa: ANN401  an operation of torch
    """Raise a CannotError for an operation that kfuzz does not judge by its schema."""
    arguments = op._schema.arguments
    if any(one.alias_info is not None and one.alias_info.is_write for one in arguments):
        raise CannotError(f"{op} writes into an argument; kfuzz judges what an operation returns")
    if torch.Tag.nondeterministic_seeded in op.tags:
        raise CannotError(f"{op} draws random numbers")
    required = [one for one in arguments if not one.has_default_value()]
    if lists := [one.name for one in required if "List[" in str(one.type) and TENSOR in str(one.type)]:
        raise CannotError(f"{op} takes a list of tensors, {lists[0]}")
    if not any(str(one.type) == TENSOR for one in required):
        raise CannotError(f"{op} takes no tensor")


def tries(taken: Sequence[Any]) -> Iterator[Try]:
    """Arguments to try: for each dimensions first floats, then one tensor of integers or of truths."""
    tensors = [role_of(one.name) for one in taken if str(one.type) == TENSOR]
    literals = [one for one in taken if str(one.type) != TENSOR]
    numbers = iter(NUMBERS[sum(map(is_number, literals)) == 1 :])
    choices = [(next(numbers, NUMBERS[-1]),) if is_number(one) else values_for(one) for one in literals]
    names = [one.name for one in literals]
    by_word = {one: kind for one in tensors for word, kind in BY_WORD.items() if word in one}
    kinds: Sequence[Mapping[str, torch.dtype]] = ({}, by_word) if by_word else ({},)
    for dims in all_dims(len(tensors)):
        for types in kinds:
            for values in islice(product(*choices), MOST_VALUES):
                known = dict(zip(names, values, strict=True))
                placed = with_last(dims) if [LAST] in values else dims
                yield Try(dict(zip(tensors, placed, strict=True)), types, known)


def role_of(name: str) -> str:
    """The name of an input: `self` is none of a function's arguments."""
    return "x" if name == "self" else name


def is_number(argument: Any) -> bool:  # noqa: ANN401  of a schema
    return str(argument.type).removeprefix(MAYBE).removesuffix("]") in ("number", "float")


def values_for(argument: Any) -> Sequence[object]:  # noqa: ANN401  of a schema
    """Values to try for an argument; None for one of tensors that may be left out."""
    kind = str(argument.type)
    kind = kind[len(MAYBE) : -1] if kind.startswith(MAYBE) else kind
    return BY_NAME.get(argument.name, VALUES.get(kind, (None,)))


def with_last(dims: Sequence[Sequence[str]]) -> list[list[str]]:
    """The dimensions with the last one of the first tensor fixed."""
    last = dims[0][-1]
    return [[str(LAST) if name == last else name for name in one] for one in dims]


def all_dims(count: int) -> Iterator[list[list[str]]]:
    """The dimensions of so many tensors: equal ranks first; for each, those that share the fewest sizes first."""
    equal = [(rank,) * count for rank in RANKS]
    mixed = [one for one in product(RANKS, repeat=count) if one not in equal] if count < 4 else []
    for ranks in (*equal, *sorted(mixed, key=sum)):
        if count == 2 and min(ranks) == max(ranks) > 2:  # an image and the windows of a convolution
            image = [*IMAGE[:2], *IMAGE[len(IMAGE) + 2 - ranks[0] :]]
            yield [image, ["out", IMAGE[1], *([WINDOW] * (ranks[0] - 2))]]
        found = list(shared(ranks)) if count * max(ranks) <= 9 else [[list(NAMES[:rank]) for rank in ranks]]
        yield from sorted(found, key=lambda dims: -len({name for one in dims for name in one}))


def shared(ranks: Sequence[int]) -> Iterator[list[list[str]]]:
    """All ways in which the tensors may share sizes; no tensor has one twice."""

    def extend(left: Sequence[int], used: int) -> Iterator[list[list[int]]]:
        if not left:
            yield []
            return
        for one, now in axes(left[0], used, ()):
            for rest in extend(left[1:], now):
                yield [one, *rest]

    def axes(rank: int, used: int, own: tuple[int, ...]) -> Iterator[tuple[list[int], int]]:
        if len(own) == rank:
            yield list(own), used
            return
        for axis in range(min(used + 1, len(NAMES))):
            if axis not in own:
                yield from axes(rank, max(used, axis + 1), (*own, axis))

    for found in extend(ranks, 0):
        if found[0] == list(range(ranks[0])):
            yield [[NAMES[axis] for axis in one] for one in found]


def arguments(taken: Sequence[Any], one: Try, device: str, sizes: Sequence[int]) -> list[object]:
    """The arguments of a try, in their order."""
    names = list(dict.fromkeys(name for dims in one.dims.values() for name in dims if not name.isdigit()))
    size_of = dict(zip(names, sizes, strict=False))
    torch.manual_seed(1)

    def tensor(role: str) -> torch.Tensor:
        shape = [int(name) if name.isdigit() else size_of[name] for name in one.dims[role]]
        kind = one.types.get(role)
        return torch.randn(shape, device=device) if kind is None else torch.zeros(shape, dtype=kind, device=device)

    return [tensor(role_of(each.name)) if str(each.type) == TENSOR else one.literals[each.name] for each in taken]


def does_run(op: Any, made: Sequence[object]) -> bool:  # noqa: ANN401  an operation of torch
    """Whether the operation takes these arguments, and returns tensors."""
    try:
        with torch.no_grad():
            found = op(*made)
    except Exception:  # of torch: any error means that it does not take them
        return False
    every = found if isinstance(found, tuple | list) else [found]
    return bool(every) and all(isinstance(one, torch.Tensor) and one.numel() for one in every)


def declared_as(one: Try) -> Declared:
    """The inputs of a try; kfuzz finds the limits of integers by more calls."""
    below = {role: "" if kind is WHOLE else BOOLEAN for role, kind in one.types.items()}
    whole = {role: I64.name for role, kind in one.types.items() if kind is WHOLE}
    return Declared(one.dims, below, {}, {}, whole)

"""The inputs of a reference at some sizes, and the sizes at which they are made.

Knows declared inputs and torch's random numbers; it knows no set.
"""

import copy
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import Declared
from kfuzz.claims.references.torch.integers import ABSENT, integers_of, rules_of
from kfuzz.claims.references.torch.sizes import FEW, Below, Dims, length_of, prime_sizes, sizes_in
from kfuzz.claims.references.torch.storage import without_numbers
from kfuzz.claims.references.torch.weights import as_one_object
from kfuzz.devices.python.torch.elements import TYPES
from kfuzz.devices.python.torch.packed import PACKED, pack_numbers
from kfuzz.oracle.numbers.elements import ELEMENTS
from kfuzz.oracle.op.role import is_scale

logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)  # it logs what it raises


def ways_to_vary(
    declared: Declared, call: Callable[..., Any], multiples: Mapping[str, int] = MappingProxyType({})
) -> Iterator[Declared]:
    """The dimensions as they are; with the second fixed; with those fixed that no weight lets
    vary; all but the first; all fixed.

    The second is often that of channels. A weight may depend on a size that looks like one of the inputs' alone.
    """
    tried = []
    inner = {name for dims in declared.dims.values() for name in dims[1:]}
    channels = {name for dims in declared.dims.values() for name in dims[1:2]}
    ways: tuple[Callable[[], Declared], ...] = (
        lambda: declared,
        lambda: declared.with_fixed(channels),
        lambda: declared.with_fixed(sizes_that_cannot_vary(declared, call, multiples)),
        lambda: declared.with_fixed(inner),
        lambda: declared.with_fixed(declared.sizes),
    )
    for make in ways:
        if (one := make()) not in tried:
            tried.append(one)
            yield one


def sizes_that_cannot_vary(declared: Declared, call: Callable[..., Any], multiples: Mapping[str, int]) -> set[str]:
    """The sizes that the reference has at home alone, while all others are those of its home."""
    home = declared.sizes
    larger = {name: {**home, name: size + multiples.get(name, 1)} for name, size in home.items()}
    return {name for name, sizes in larger.items() if error_without_numbers(call, declared, sizes)}


def error_without_numbers(call: Callable[..., Any], declared: Declared, sizes: Mapping[str, int]) -> Exception | None:
    """What a copy of the reference raises at these sizes without making numbers: they may be gigabytes."""
    given: dict[str, dict[str, list[str]]] = {"floats": {}, "integers": {}}
    for name, dims in declared.dims.items():
        given["integers" if name in declared.below else "floats"][name] = dims
    try:
        copied = copy.deepcopy(call) if isinstance(call, torch.nn.Module) else call
        made = tensors_of(given["integers"], sizes, declared.below)
        with without_numbers(), as_one_object(copied):
            made |= tensors_of(given["floats"], sizes, declared.below)
            copied(*(made[name] for name in declared.dims))
    except Exception as error:  # any error of torch for such shapes, or of a call that needs the numbers
        return error
    return None


def with_fixed(declared: Declared, asked: Mapping[str, Any]) -> Declared:
    """The inputs with the sizes that the claim fixes."""
    names = sizes_in(declared.dims)
    fixed = {name: least for name, (least, most, _) in asked["axes"].items() if least == most and name in names}
    return replace(declared, fixed=fixed | {n: size for n, size in declared.fixed.items() if n in names})


def sizes_to_run(declared: Declared, asked: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """Two sets of sizes at which the reference is run, in the order that they have at home: a window fits there."""
    names = sizes_in(declared.dims)
    ordered = sorted(names, key=lambda name: declared.sizes.get(name, 0))
    steps = {name: asked["axes"].get(name, (1, 0, 1)) for name in ordered}
    multiples = {name: (least, by) for name, (least, _, by) in steps.items()}
    fixed = with_fixed(declared, asked).fixed
    numbers = {int(name) for dims in declared.dims.values() for name in dims if name.isdigit()}
    rules = (*rules_of(declared.below, declared.dims), *asked.get("where", ()))
    found = prime_sizes(multiples, fixed, numbers, rules, FEW)
    sizes = {name: found[name] for name in names}
    return sizes, {name: size if name in fixed else size + multiples[name][1] for name, size in sizes.items()}


def tensors_of(inputs: Dims, sizes: Mapping[str, int], below: Below, seed: int = 1) -> dict[str, torch.Tensor]:
    """Normal numbers, or integers of their structure, of these shapes; zeros if it is not known."""
    torch.manual_seed(seed)

    def made(name: str, dims: Sequence[str]) -> torch.Tensor:
        shape = [length_of(d, sizes) for d in dims]
        if name not in below:
            return torch.randn(shape)
        is_known = below[name] not in ("", ABSENT)
        return integers_of(below[name], dims, sizes) if is_known else torch.zeros(shape, dtype=torch.int64)

    return {name: made(name, dims) for name, dims in inputs.items()}


def tensors_for(declared: Declared, sizes: Mapping[str, int], seed: int = 1) -> dict[str, torch.Tensor]:
    """The inputs as they are declared."""
    if declared.made is not None:
        return declared.made(seed)
    return in_declared_types(declared, tensors_of(declared.dims, sizes, declared.below, seed))


def in_declared_types(declared: Declared, given: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Integers in their types, and numbers in the narrow types of the inputs that have one; scales are above 0."""
    made = dict(given)
    made |= {name: made[name].to(TYPES[ELEMENTS[whole]]) for name, whole in declared.whole.items() if name in made}
    for name, narrow in declared.narrow.items():
        numbers = made[name].abs() if is_scale(name) else made[name]
        if narrow in PACKED:
            nearest = PACKED[narrow].element.round(numbers.double().numpy())
            made[name] = pack_numbers(torch.from_numpy(nearest), narrow)
        else:
            made[name] = numbers.to(narrow)
    return made

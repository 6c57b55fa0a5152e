"""The file of an op whose answers are those of a reference: its arrays, and how kfuzz asks for their sets.

Knows the sizes of torch's tensors; it knows no set and no rule.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch

from kfuzz.claims.references.same_numbers import SameNumbers
from kfuzz.claims.references.torch.changed_integers import FEW_ELEMENTS
from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.fitted_sizes import fit_size, fits
from kfuzz.claims.references.torch.integers import declared_as
from kfuzz.claims.references.torch.sizes import Dims, SizesOfRun, with_fixed_sizes
from kfuzz.claims.references.torch.storage import without_numbers
from kfuzz.claims.references.torch.twins.leaves import as_real, call_with, named_outputs
from kfuzz.claims.references.torch.weights import Chosen, as_one_object, states_of
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.op.shapes import names_in

Makes = Callable[[SizesOfRun], dict[str, torch.Tensor]]
"""Makes the inputs at some sizes."""
ReturnedTensors = dict[str, torch.Tensor]
MOST_TOLD = 8
"""At so many more sizes a reference runs to tell apart what a size of an output may be: each ends one expression."""


def outputs_of(
    reference: Callable[..., Any], every: Sequence[SizesOfRun], make: Makes, changed: Collection[int],
    telling: Callable[[Sequence[str]], SizesOfRun | None],
) -> tuple[ReturnedTensors, Dims]:  # fmt: skip
    """What the reference returns at the first of these sizes, and the dimensions of it at all of them.

    `changed`: the places of inputs that it changes. `telling`: other sizes at which some of these expressions differ.
    """
    first = returned_at(reference, make(every[0]), every[0], changed)
    every, found = [*every], [[tuple(one.shape) for one in first.values()]]
    found += [shapes_at(reference, make, sizes, changed) for sizes in every[1:]]
    if any(list(map(len, one)) != list(map(len, found[0])) for one in found):
        raise CannotError("its outputs are others at other sizes")
    places = [(place, axis) for place, one in enumerate(first.values()) for axis in range(one.ndim)]
    for place, axis in places:
        for _ in range(MOST_TOLD):
            fitting = fits([one[place][axis] for one in found], every)
            text = next(fitting, "")
            if not names_in(text) or text.isidentifier() or (sizes := telling([text, *fitting])) is None:
                break
            every.append(sizes)
            found.append(shapes_at(reference, make, sizes, changed))
    return first, {
        name: [output_size(name, [one[place][axis] for one in found], every) for axis in range(first[name].ndim)]
        for place, name in enumerate(first)
    }


def op_file(
    reference: Callable[..., Any], declared: Declared, first: ReturnedTensors, shapes: Dims, title: str,
    rules: Sequence[str], means_first: bool = False, makers: str = "",
) -> str:  # fmt: skip
    """The file of an op whose outputs are such as these. `means_first`: of equal numbers it names the first's place.
    `makers`: the text of the arrays that a kernel gets in the place of some of a case.
    """
    named = {role: listed(dims, declared.fixed) for role, dims in declared.dims.items()}
    inputs = {role: f"{'grid' if role in declared.narrow else 'float'}[{text}]" for role, text in named.items()}
    inputs |= {role: declared_as(below, named[role], declared.fixed) for role, below in declared.below.items()}
    sizes = {name: listed(dims, declared.fixed) or "1" for name, dims in shapes.items()}
    kinds = {torch.bool: "bool"} | {one.dtype: kind_of(one) for one in first.values() if one.is_floating_point()}
    results = {name: f"{kinds.get(first[name].dtype, 'int')}[{text}]" for name, text in sizes.items()}
    lines = [f'"""{title}: kfuzz runs it for each case."""', ""]
    lines += ["from kfuzz.claims.references.running import diagnosis_at, exact_at, inputs_at, sets_at"]
    lines += ["from kfuzz.claims.references.same_numbers import with_same_numbers", ""]
    lines += [f"INPUTS = {json.dumps(inputs)}", f"OUTPUTS = {json.dumps(results)}", "WHOLE = True"]
    lines += ['SPECIAL = {"ties": "first"}'] if means_first else []
    lines += [f"WHERE = {tuple(rules)!r}"] if rules else []
    if isinstance(reference, Chosen):
        lines += [f"WEIGHTS = {{{reference.role!r}: {states_of(tuple(reference.objects))!r}}}"]
    given = ", ".join(f'"{name}": {name}' for name in declared.dims)
    lines += ["", "", f"def formula(N, {', '.join(declared.dims)}):"]
    lines += [f"    return exact_at(__file__, N, {{{given}}})", ""]
    if makers:
        lines += ["", "def make_inputs(given):", f"    return {makers}", ""]
    lines += ["", "def sets(asked):", "    return sets_at(__file__, asked)", ""]
    lines += ["", "def diagnose(*wrong):", "    return diagnosis_at(__file__, *wrong)", ""]
    return "\n".join(lines)


def makers_of(made: Mapping[str, Any] | None, same: Mapping[str, SameNumbers]) -> str:
    """The text of the arrays that a kernel gets in the place of some of a case; nothing if it gets those of the case.

    `made`: how a case says which inputs are those of get_inputs: of such a draw all numbers are, so they come last.
    `same`: numbers of others that stay as they are there.
    """
    texts = [f"with_same_numbers(given, { {name: tuple(one) for name, one in same.items()}!r})"] if same else []
    texts += [f"inputs_at(__file__, given, {made!r})"] if made is not None else []
    return f"{{**{', **'.join(texts)}}}" if texts else ""


def listed(dims: Sequence[str], fixed: Mapping[str, int]) -> str:
    """Dimensions as an op's file writes them."""
    return ", ".join(with_fixed_sizes(d, fixed) for d in dims)


def kind_of(one: torch.Tensor) -> str:
    """How a role of these numbers is called."""
    return "grid" if one.dtype in OF_TYPE and OF_TYPE[one.dtype].is_narrow else "float"


def returned_at(
    reference: Callable[..., Any], given: Mapping[str, torch.Tensor], sizes: SizesOfRun, changed: Collection[int]
) -> ReturnedTensors:
    """The tensors that a reference returns or changes, by name."""
    try:
        every = call_with(reference, [one.clone() for one in given.values()], changed)
    except Exception as error:  # any error of the user's code, or of torch for such shapes
        raise CannotError(
            f"at {shown(sizes)} the reference itself ends with {words_of(error)}; write axes without that"
        ) from None
    if not every:
        raise CannotError("it does not return a tensor")
    tensors = [as_real(torch.as_tensor(one).detach()) for _, one in every]
    return dict(zip(named_outputs([name for name, _ in every], given, sizes), tensors, strict=True))


def shapes_at(
    reference: Callable[..., Any], make: Makes, sizes: SizesOfRun, changed: Collection[int]
) -> list[tuple[int, ...]]:
    """The shapes of what a reference returns: of large inputs found without numbers, if it does not need them."""
    few = make(sizes)
    if sum(one.numel() for one in few.values()) <= FEW_ELEMENTS:
        return [tuple(one.shape) for one in returned_at(reference, few, sizes, changed).values()]
    try:
        with without_numbers(), as_one_object(reference):
            made = call_with(reference, list(make(sizes).values()), changed)
    except Exception:  # of torch, or of their code, that needs the numbers
        made = list(returned_at(reference, make(sizes), sizes, changed).items())
    return [tuple(as_real(torch.as_tensor(one)).shape) for _, one in made]


def output_size(output: str, values: Sequence[int], every: Sequence[SizesOfRun]) -> str:
    """The dimension that an output's size is at all these sizes."""
    found = fit_size(values, every)
    if found is None:
        other = next(place for place, value in enumerate(values) if value != values[0])
        raise CannotError(
            f"a size of its output {output} is {values[0]} at {shown(every[0])} and {values[other]} at "
            f"{shown(every[other])}, which follows from no size of an input that kfuzz knows"
        )
    return found


def shown(sizes: SizesOfRun) -> str:
    return " ".join(f"{name}={size}" for name, size in sizes.items())

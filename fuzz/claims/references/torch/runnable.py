"""Executes the file of a reference, and makes it a function of its tensors alone.

Knows what a question says, and the kinds of files that a reference stands in; it knows no set.
"""

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._ops import OpOverload
from torch.autograd import forward_ad
from torch.utils import cpp_extension

from kfuzz.claims.references.same_numbers import SameNumbers
from kfuzz.claims.references.submissions.gpu_mode import folders_of
from kfuzz.claims.references.torch.array_inputs import ArrayInputs, array_inputs_of, known_arrays
from kfuzz.claims.references.torch.configs import configure
from kfuzz.claims.references.torch.declared import Declared, reference_of
from kfuzz.claims.references.torch.drawn import DrawnInputs, drawn_inputs_of, draws_of
from kfuzz.claims.references.torch.given import (
    MadeInputs,
    MakesAtSizes,
    inputs_of,
    known_inputs,
    names_of_inputs,
    parameters_of,
)
from kfuzz.claims.references.torch.model_functions import Forward, function_of_task, is_task
from kfuzz.claims.references.torch.origins import origins_of
from kfuzz.claims.references.torch.schemas import inputs_by_schema
from kfuzz.claims.references.torch.sizes import MOST_WEIGHTS
from kfuzz.claims.references.torch.tasks import read_tests, task_of
from kfuzz.claims.references.torch.triton_references import run_in_torch
from kfuzz.claims.references.torch.weights import SETS, Chosen, drawn, states_of
from kfuzz.common.text.cuda_in_python import builds_cuda
from kfuzz.devices.python.loading import execute_file
from kfuzz.devices.python.torch.without_gpu import as_on_gpu

ROLES = ("weights", "drawn_weights")
"""The name of the input that says which weights a reference has; the second if it has an input of the first name."""


@dataclass(frozen=True)
class Runnable:
    """A reference as a function of its tensors, and what its inputs are."""

    call: Callable[..., Any]
    is_module: bool
    declared: Declared
    beside: Mapping[str, Any] = field(default_factory=dict)
    """What a submission is handed, or made with, that the formula does not say."""
    forward: Forward | None = None
    """The function whose gradients the reference computes, if it computes gradients."""
    halves: str = ""
    """The type of 16 bits that some of its inputs have, of those that are no arrays, too."""
    module: ModuleType | None = None
    """That of its file, if get_inputs makes its inputs."""
    name_inputs: Callable[[Any], Sequence[str]] | None = None
    """Gives a name to each tensor of what get_inputs makes."""
    make_at: MakesAtSizes | None = None
    """get_inputs at other sizes, where it is known which integers of its text they are."""
    same: Mapping[str, SameNumbers] = field(default_factory=dict)
    """The numbers of its inputs that are the same in every draw of get_inputs, while others of their array change."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its inputs, in their order."""
        return tuple(self.declared.dims)


def runnable_of(asked: Mapping[str, Any]) -> Runnable:
    """Execute a reference's file and find its inputs."""
    for build in ("load", "load_inline"):  # a reference needs no extension, and a submission's takes a minute to build
        setattr(cpp_extension, build, lambda *_, **__: None)
    run_eagerly()
    path, source = Path(asked["path"]), asked["source"]
    is_of_gpu = builds_cuda(source) or asked.get("task") or asked.get("as_on_gpu")
    context = partial(as_on_gpu, path) if is_of_gpu else nullcontext
    if asked.get("task"):
        sys.path.extend(folders_of(asked["task"], path.parent))
    with context():  # its inputs may be on a GPU
        module = execute_file(path, source, 0)
        run_in_torch(module)
        if asked.get("is_function") and is_task(module, asked.get("config", "")):
            of = function_of_task(module, asked["config"])
            names = iter(of.declared.dims)
            args = [next(names) if one is None else one for one in of.given] if any(of.given) else []
            beside = {"exported": of.name, "args": args, "whole": dict(of.declared.whole)}
            return Runnable(of.call, False, of.declared, beside, of.forward)
        configure(module, asked.get("config", ""), asked["reference"])
    reference, is_module = reference_of(module, asked["reference"])
    if asked["inputs"]:
        call = on_host(reference, context) if asked.get("as_on_gpu") else reference
        return Runnable(call, is_module, Declared(asked["inputs"], asked.get("integers", {}), {}))
    if asked.get("task"):
        with context():
            task = task_of(module, reference, read_tests(asked["task"]))
        beside = {"data": task.data, "elements": task.elements, "results": task.results, "scratch": task.scratch,
                  "tiled": task.tiled,
                  "multiples": task.multiples, "narrow": task.narrow}  # fmt: skip
        return Runnable(on_host(task.call, context), False, task.declared, beside)
    with context():
        given, bind = inputs_for(asked, module, reference)
        declared, call, has_init = given.declared, bind(reference), bool(getattr(given, "init", ()))
        if asked.get("draws_weights") and isinstance(reference, torch.nn.Module):
            objects = with_drawn_weights(module, asked["reference"], reference)
            if any(states_of(objects)):
                role = next(one for one in ROLES if one not in declared.dims)
                declared = declared.with_integers(role, f"0..{len(objects) - 1}")
                calls = [bind(one, number) if has_init else bind(one) for number, one in enumerate(objects)]
                call = Chosen(objects, calls, role)
    if asked.get("as_on_gpu"):
        call = on_host(call, context)
    beside = {"whole": dict(declared.whole), "args": given.texts}
    beside |= {"parameters": parameters_of(reference), **(made_with(module) if is_module else {})}
    beside |= {"sized_init": given.init} if has_init and isinstance(given, MadeInputs) else {}
    if isinstance(given, DrawnInputs):
        beside |= {"drawn": given.as_json()}
    else:
        beside |= {"made": given.made} if isinstance(given, ArrayInputs) else {"multiples": given.multiples}
        beside |= {"given": given.as_json()}
    return Runnable(
        call, is_module, declared, beside, halves=getattr(given, "halves", ""), module=module,
        name_inputs=partial(names_of_inputs, reference), make_at=getattr(given, "make_at", None),
    )  # fmt: skip


def inputs_for(
    asked: Mapping[str, Any], module: ModuleType, reference: Callable[..., Any]
) -> tuple[MadeInputs | DrawnInputs | ArrayInputs, Callable[..., Any]]:
    """The inputs of a reference, and what makes it a function of them alone."""
    if isinstance(reference, OpOverload):
        of_schema = MadeInputs(*inputs_by_schema(reference))
        return of_schema, of_schema.call
    path = Path(asked["path"])
    if "drawn" in asked and asked.get("is_cuda"):
        arrays = array_inputs_of(module, reference, path)
        return arrays, arrays.given.call
    if "drawn" in asked:
        make = draws_of(module, path)
        if asked["drawn"]:
            drawn = DrawnInputs.read(asked["drawn"])
        else:
            drawn = drawn_inputs_of(make, reference, origins_of(module.get_inputs, path).kept)
        return drawn, partial(drawn.call, make=make)
    known = asked.get("given")
    source = asked["source"]
    given = (
        known_inputs(module, source, known)
        if known
        else inputs_of(module, reference, source, bool(asked.get("is_remade")))
    )
    if known and "draws" in known:
        given = known_arrays(module, path, given, known["draws"])
    return given, given.call


def run_eagerly() -> None:
    """Let what would compile a function leave it as it is: compiled, it shows none of its operations, and a copy with
    other numbers would be compiled for each case.
    """
    torch.compile = uncompiled
    torch.jit._state.disable()
    forward_ad._maybe_load_decompositions = load_decompositions


def load_decompositions(load: Callable[[], None] = forward_ad._maybe_load_decompositions) -> None:
    """What torch loads before the first derivative in forward mode: it scripts functions of its own for that."""
    torch.jit._state.enable()
    try:
        load()
    finally:
        torch.jit._state.disable()


def uncompiled(function: Any = None, **options: object) -> Any:  # noqa: ANN401  of any type
    """`torch.compile` that compiles nothing, as a call or as a decorator with options."""
    return function if function is not None else partial(uncompiled, **options)


def with_drawn_weights(module: ModuleType, name: str, own: torch.nn.Module) -> list[torch.nn.Module]:
    """The reference, and others of its kind that have drawn weights: as many as kfuzz can judge by."""
    weights = sum(one.numel() for one in own.state_dict().values())
    made = [own]
    for number in range(1, min(SETS, MOST_WEIGHTS // max(weights, 1))):
        with drawn(number):
            made.append(reference_of(module, name)[0])
    return made


def on_host(call: Callable[..., Any], context: Callable[[], Any]) -> Callable[..., Any]:
    """A function whose GPU is the host."""

    def called(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        with context():
            return call(*tensors)

    return called


def made_with(module: ModuleType) -> dict[str, Any]:
    """The literals with which a model is made, for a submission that does not have them."""
    every = [repr(one) for one in getattr(module, "get_init_inputs", list)()]
    try:
        for one in every:
            ast.literal_eval(one)
    except (ValueError, SyntaxError):
        return {}
    return {"init": every, "sized_init": every}

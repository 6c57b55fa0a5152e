"""Functions of robust-kbench's tasks, for submissions that are functions: what `Model` hands to `fn`, and gradients.

`forward_fn(x, weight, bias, eps)` says what `forward` of a submission computes. A task with an `AutogradFunction` says
what `backward` gets, `backward_fn(grad_output, x, weight)`: it computes the gradients of `forward_fn`, in torch's way.
All of these tensors are inputs, and each size is named by the argument of the task that gives it. Knows torch and the
names of such a task; it knows no set.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from kfuzz.claims.references.torch.configs import arguments_of, values_in
from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.sizes import PRIMES, Dims
from kfuzz.devices.python.torch.elements import OF_TYPE

FORWARD, GRADIENTS, GRADIENT = "forward_fn", "AutogradFunction", "grad_output"
MOST_GRADIENTS = 32


@dataclass(frozen=True)
class Forward:
    """The function whose gradients are asked for, and of which of its inputs, in this order."""

    call: Callable[..., Any]
    declared: Declared
    wanted: tuple[str, ...]


@dataclass(frozen=True)
class ModelFunction:
    """A function of tensors, by the name that a submission exports.

    `given`: for each argument of a submission the literal of a number, or None for a tensor. `forward`: the function
    whose gradients it computes, if it computes gradients.
    """

    name: str
    call: Callable[..., Any]
    declared: Declared
    given: tuple[str | None, ...]
    forward: Forward | None = None


@dataclass(frozen=True)
class ModelCall:
    """The arguments that a model hands to its function, by the names of the function's parameters; its answer."""

    values: Mapping[str, Any]
    answer: torch.Tensor

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The tensors among the arguments, and the gradient of the answer, which has its shape."""
        return {**{name: one for name, one in self.values.items() if isinstance(one, torch.Tensor)},
                GRADIENT: self.answer}  # fmt: skip


def is_task(module: ModuleType, config: str) -> bool:
    """Whether a module is a task whose model takes the function that computes it."""
    of = getattr(module, "Model", None)
    return bool(config) and callable(getattr(module, FORWARD, None)) and hasattr(of, "forward") and (
        "fn" in inspect.signature(of.forward).parameters  # type: ignore[union-attr]  # hasattr is false for None
    )  # fmt: skip


def function_of_task(module: ModuleType, config: str) -> ModelFunction:
    """The function that a submission to a task computes: gradients, if the task is about them."""
    values = values_in(config)
    known = call_at(module, values)
    found = declared_by(module, values, known)
    if hasattr(module, GRADIENTS):
        return gradients_of(module, known, found)
    declared = only(found, [name for name in known.tensors if name != GRADIENT])
    given = tuple(None if isinstance(one, torch.Tensor) else repr(one) for one in known.values.values())
    return ModelFunction("forward", forward_at(module, known, declared.dims), declared, given)


def forward_at(module: ModuleType, known: ModelCall, names: Iterable[str]) -> Callable[..., Any]:
    """The function of a task, of its tensors with these names."""
    forward, every = getattr(module, FORWARD), tuple(names)

    def call(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        return forward(**{**known.values, **dict(zip(every, tensors, strict=True))})

    return call


def call_at(module: ModuleType, values: Mapping[str, Any]) -> ModelCall:
    """What the model hands to its function if it is made with these values; its tensors have no numbers."""
    forward, seen = getattr(module, FORWARD), list[ModelCall]()
    names = inspect.signature(forward)

    def record(*args: object, **options: object) -> object:
        bound = names.bind(*args, **options)
        bound.apply_defaults()
        answer = forward(*args, **options)
        if not isinstance(answer, torch.Tensor):
            raise CannotError(f"{FORWARD} does not return a tensor")
        seen.append(ModelCall(dict(bound.arguments), answer))
        return answer

    with torch.device("meta"), torch.no_grad():
        model = module.Model(*arguments_of(module.Model, dict(values)))
        known = inspect.signature(module.get_inputs).parameters
        inputs = module.get_inputs(**{name: one for name, one in values.items() if name in known})
        model.forward(*inputs, fn=record)
    if len(seen) != 1:
        raise CannotError(f"its model calls fn {len(seen)} times, not once")
    return seen[0]


def declared_by(module: ModuleType, values: Mapping[str, Any], known: ModelCall) -> Declared:
    """The inputs by calls with another value of each argument: a size that takes this value has its name.

    An argument on which a size depends in another way, as that after a pool, is fixed.
    """
    of_functions = {
        name: one.default
        for function in (module.Model.__init__, module.get_inputs)
        for name, one in inspect.signature(function).parameters.items()
    }
    numbers = {name: one for name, one in {**of_functions, **values}.items() if type(one) is int}
    dims: Dims = {name: [str(size) for size in one.shape] or ["1"] for name, one in known.tensors.items()}
    fixed = dict[str, int]()
    for argument, was in numbers.items():
        for now in (PRIMES[-1], 3 * was, 2 * was, was + 1):
            try:
                moved = call_at(module, {**values, argument: now}).tensors
            except Exception:  # of the task at such a value  # noqa: S112
                continue
            for name, one in known.tensors.items():
                for axis, (before, after) in enumerate(zip(one.shape, moved[name].shape, strict=True)):
                    if (before, after) == (was, now):
                        dims[name][axis] = argument
                    elif before != after:
                        fixed[argument] = was
            break
    whole = {name: OF_TYPE[one.dtype].name for name, one in known.tensors.items() if not one.is_floating_point()}
    return Declared(dims, dict.fromkeys(whole, ""), fixed, numbers, whole)


def only(declared: Declared, names: Sequence[str]) -> Declared:
    """The inputs of these names, in this order; an argument on which only the size of another depends is free."""
    dims = {name: declared.dims[name] for name in names}
    used = {size for of in dims.values() for size in of}
    return Declared(
        dims,
        {name: one for name, one in declared.below.items() if name in dims},
        {name: size for name, size in declared.fixed.items() if name in used and GRADIENT in names},
        {name: size for name, size in declared.sizes.items() if name in used},
        {name: one for name, one in declared.whole.items() if name in dims},
    )


def gradients_of(module: ModuleType, known: ModelCall, declared: Declared) -> ModelFunction:
    """The function that computes the gradients of a task from what its `backward` hands over."""
    forward, made = getattr(module, FORWARD), getattr(module, GRADIENTS)
    with torch.device("meta"):
        incoming = torch.empty_like(known.answer)
        handed, wanted = arguments_of_backward(made, known, incoming)
    names: list[str | None] = []
    for one in handed:
        name = next((name for name, own in known.values.items() if own is one), None)
        if isinstance(one, torch.Tensor) and one is not incoming and name is None:
            raise CannotError("its backward takes a tensor that is neither an input nor the gradient of the output")
        names.append(GRADIENT if one is incoming else name if isinstance(one, torch.Tensor) else None)
    found = only(declared, [name for name in names if name is not None])
    dims = found.dims

    def call(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  the gradients
        every = dict(zip(dims, tensors, strict=True))
        lengths = {d: n for name, one in every.items() for d, n in zip(dims[name], one.shape, strict=True)}
        absent = {
            name: torch.zeros([lengths.get(d, int(d) if d.isdigit() else 1) for d in declared.dims[name]])
            for name in known.tensors if name not in (*every, GRADIENT)
        }  # fmt: skip
        with torch.enable_grad():
            leaves = {name: one.detach().requires_grad_(name in wanted)
                      for name, one in {**absent, **every}.items() if name != GRADIENT}  # fmt: skip
            answer = forward(**{**known.values, **leaves})
            incoming = every[GRADIENT].reshape(answer.shape)
            found = torch.autograd.grad(answer, [leaves[name] for name in wanted], incoming)
        return found[0] if len(found) == 1 else found

    given = tuple(None if isinstance(one, torch.Tensor) else repr(one) for one in handed)
    taken = replace(only(declared, [name for name in known.tensors if name != GRADIENT]), fixed=found.fixed)
    of = Forward(forward_at(module, known, taken.dims), taken, tuple(wanted))
    return ModelFunction("backward", call, found, given, of)


def arguments_of_backward(made: Any, known: ModelCall, incoming: torch.Tensor) -> tuple[Sequence[Any], list[str]]:  # noqa: ANN401  a class of the task
    """What `backward` of a task hands to a submission, and of which inputs the submission returns the gradients."""
    for count in range(1, MOST_GRADIENTS):
        marks = [object() for _ in range(count)]
        seen: list[tuple[Any, ...]] = []

        def record(*args: object, seen: list[tuple[Any, ...]] = seen, marks: list[object] = marks) -> object:
            seen.append(args)
            return marks[0] if len(marks) == 1 else tuple(marks)

        context = Context()
        made.backward_fn = record
        made.forward(context, *known.values.values())
        try:
            found = made.backward(context, incoming)
        except (TypeError, ValueError):  # it unpacks another number of gradients
            continue
        every = list(found) if isinstance(found, tuple | list) else [found]
        of_mark = {id(mark): name for name, mark in zip(known.values, every, strict=False)}
        handed = [one[0] if isinstance(one, tuple) and len(one) == 1 else one for one in seen[0]]
        return handed, [of_mark[id(mark)] for mark in marks]
    raise CannotError("its backward does not say how many gradients a submission returns")


class Context(SimpleNamespace):
    """The place where `forward` of an autograd function keeps what its `backward` needs."""

    saved_tensors: tuple[torch.Tensor, ...] = ()

    def save_for_backward(self, *tensors: torch.Tensor) -> None:
        self.saved_tensors = tensors

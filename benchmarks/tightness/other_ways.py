"""Right answers of a model in other ways: by decompositions, sums in other orders, wider numbers, 16 bits, on a GPU.

Each is held against the sets of the model's own run. Knows torch and the sets; it knows no problem.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np
import torch
from torch._decomp import core_aten_decompositions
from torch.utils._python_dispatch import TorchDispatchMode

from kfuzz.claims.references.torch.twins.as_arrays import grade_answer, reference_sets
from kfuzz.claims.references.torch.twins.leaves import fresh, leaves
from kfuzz.claims.references.torch.twins.three_runs import Answered
from kfuzz.oracle.sets.reference_sets import Grade

ATEN = torch.ops.aten
NARROW = (torch.bfloat16, torch.float16)
Given = Sequence[torch.Tensor]
Rule = Callable[..., Any]


class Mode(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Calls another function for some operations of torch; `within`: for those that this one calls, too."""

    def __init__(self, table: Mapping[Any, Rule], within: bool = False) -> None:
        super().__init__()
        self.table, self.within = table, within

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401  torch's
        rule = self.table.get(func)
        if rule is None:
            return func(*args, **(kwargs or {}))
        with self if self.within else nullcontext():
            return rule(*args, **(kwargs or {}))


def shuffled(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """An order of so many places, and the order that undoes it."""
    order = torch.randperm(length, generator=torch.Generator().manual_seed(length))
    return order, order.argsort()


def product(func: Any, left: int, right: int) -> Rule:  # noqa: ANN401  an operation of torch
    """A product of matrices whose terms are in another order; `left`, `right`: the places of its operands."""

    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch's
        given = list(args)
        order, _ = shuffled(given[left].shape[-1])
        given[left], given[right] = given[left][..., order], given[right].index_select(-2, order)
        return func(*given, **kwargs)

    return call


def convolution(x: torch.Tensor, weight: torch.Tensor, bias: Any, *rest: Any) -> Any:  # noqa: ANN401  torch's
    """A convolution whose channels are in another order."""
    *_, transposed, _, groups = rest
    if groups == 1:
        order, _ = shuffled(x.shape[1])
        x, weight = x.index_select(1, order), weight.index_select(0 if transposed else 1, order)
    return ATEN.convolution.default(x, weight, bias, *rest)


def reduction(func: Any) -> Rule:  # noqa: ANN401  an operation of torch
    """A sum or a mean along some axes, whose terms are in another order."""

    def call(x: torch.Tensor, dims: Any = None, *rest: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch's
        for axis in dims or range(x.ndim):
            x = x.index_select(axis, shuffled(x.shape[axis])[0])
        return func(x, dims, *rest, **kwargs)

    return call


def along(func: Any) -> Rule:  # noqa: ANN401  an operation of torch
    """A function of whole rows, along one axis, whose places are in another order."""

    def call(x: torch.Tensor, axis: int, *rest: Any) -> Any:  # noqa: ANN401  torch's
        if not x.ndim:
            return func(x, axis, *rest)
        order, back = shuffled(x.shape[axis])
        return func(x.index_select(axis, order), axis, *rest).index_select(axis, back)

    return call


def layer_norm(x: torch.Tensor, shape: Sequence[int], weight: Any, bias: Any, eps: float) -> Any:  # noqa: ANN401  torch's
    """A layer norm along the last axis, whose places are in another order."""
    order, back = shuffled(x.shape[-1])
    weight, bias = (None if one is None else one[..., order] for one in (weight, bias))
    y, *rest = ATEN.native_layer_norm.default(x[..., order], shape, weight, bias, eps)
    return (y[..., back], *rest)


SHUFFLED: dict[Any, Rule] = {
    **{func: product(func, 0, 1) for func in (ATEN.mm.default, ATEN.bmm.default)},
    **{func: product(func, 1, 2) for func in (ATEN.addmm.default, ATEN.baddbmm.default)},
    **{func: reduction(func) for func in (ATEN.sum.dim_IntList, ATEN.mean.dim)},
    **{func: along(func) for func in (ATEN._softmax.default, ATEN._log_softmax.default)},
    ATEN.convolution.default: convolution,
    ATEN.native_layer_norm.default: layer_norm,
}


def answer(model: Callable[..., Any], given: Given, way: AbstractContextManager[Any] | None = None) -> list[Any]:
    """What the model returns."""
    with way or nullcontext(), torch.no_grad():
        return [one for _, one in leaves(model(*fresh(given)))]


def cast(given: Given, kind: torch.dtype) -> list[torch.Tensor]:
    """The tensors with their floats in this type."""
    return [one.to(kind) if one.is_floating_point() else one for one in given]


def ways(model: torch.nn.Module, given: Given, wide: torch.dtype) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """The ways to compute an answer; that in wider numbers is rounded at its end."""
    yield "own", lambda: answer(model, given)
    yield "decomposed", lambda: answer(model, given, Mode(core_aten_decompositions(), within=True))
    yield "shuffled", lambda: answer(model, given, Mode(SHUFFLED))
    yield "wide", lambda: answer(copy.deepcopy(model).to(wide), cast(given, wide))
    if torch.cuda.is_available():
        on_gpu = [one.cuda() for one in given]
        yield "gpu", lambda: [one.cpu() for one in answer(copy.deepcopy(model).cuda(), on_gpu)]


def compare(model: torch.nn.Module, given: Given, path: str) -> Iterator[tuple[str, int, int]]:
    """For each right answer its way, and how many elements of it are broken and suspect."""
    for kind in (torch.float32, *NARROW):
        own, numbers = copy.deepcopy(model).to(kind), cast(given, kind)
        if kind in NARROW and not any(one.is_floating_point() for one in numbers):
            continue
        with suppress(RuntimeError, NotImplementedError):  # torch has no such operation of this type
            answered = Answered(own, numbers, path)
            sets, like = reference_sets(answered), [one for _, one in answered.own]
            for way, make in ways(own, numbers, torch.float32 if kind in NARROW else torch.float64):
                with suppress(RuntimeError, NotImplementedError):  # the way has none
                    made = [as_type_of(one, of) for one, of in zip(make(), like, strict=True)]
                    yield f"{way} {kind}", *counts(grade_answer(sets, made))


def as_type_of(one: Any, of: Any) -> Any:  # noqa: ANN401  a tensor or a number
    return one.to(of.dtype) if isinstance(one, torch.Tensor) else one


def counts(grades: Sequence[Any] | str) -> tuple[int, int]:
    """The broken and the suspect elements; an answer of another shape is broken."""
    if isinstance(grades, str):
        return 1, 0
    broken, suspect = (sum(int(np.sum(one == grade)) for one in grades) for grade in (Grade.BROKEN, Grade.SUSPECT))
    return broken, suspect

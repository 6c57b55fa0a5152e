"""Right answers of a model in other ways: by decompositions, sums in other orders, wider numbers, 16 bits, on a GPU.

Each is held against the sets of the model's own run. Knows torch and the sets; it knows no problem.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
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
from tests.fuzz.claims.references.twins.other_ways import OtherWay

NARROW = (torch.bfloat16, torch.float16)
DECOMPOSITIONS = core_aten_decompositions()
Given = Sequence[Any]


class Decomposed(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Calls torch's own decomposition of each operation that has one."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401  torch's
        made = DECOMPOSITIONS.get(func)
        if made is None:
            return func(*args, **(kwargs or {}))
        with self:
            return made(*args, **(kwargs or {}))


def answer(model: Callable[..., Any], given: Given, way: AbstractContextManager[Any] | None = None) -> list[Any]:
    """What the model returns."""
    with way or nullcontext(), torch.no_grad():
        return [one for _, one in leaves(model(*fresh(given)))]


def is_floats(one: Any) -> bool:  # noqa: ANN401  an input
    return isinstance(one, torch.Tensor) and one.is_floating_point()


def cast(given: Given, kind: torch.dtype) -> list[Any]:
    """The inputs with their floats in this type."""
    return [one.to(kind) if is_floats(one) else one for one in given]


def ways(model: torch.nn.Module, given: Given, kind: torch.dtype) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """The ways to compute an answer; that in wider numbers is rounded at its end."""
    wide = torch.float32 if kind in NARROW else torch.float64
    yield "own", lambda: answer(model, given)
    yield "decomposed", lambda: answer(model, given, Decomposed())
    yield "another order", lambda: answer(model, given, OtherWay(1))
    if kind in NARROW:
        yield "operands of 16 bits", lambda: answer(model, given, OtherWay(2, store=kind))
    yield "wide", lambda: answer(copy.deepcopy(model).to(wide), cast(given, wide))
    if torch.cuda.is_available():
        torch.backends.cudnn.allow_tf32 = False  # 10 bits of 24 are no float32
        on_gpu = [one.cuda() if isinstance(one, torch.Tensor) else one for one in given]
        yield "gpu", lambda: [one.cpu() for one in answer(copy.deepcopy(model).cuda(), on_gpu)]


def compare(model: torch.nn.Module, given: Given, path: str) -> Iterator[tuple[str, int, int]]:
    """For each right answer its way, and how many elements of it are broken and suspect."""
    for kind in (torch.float32, *NARROW):
        own, numbers = copy.deepcopy(model).to(kind), cast(given, kind)
        if kind in NARROW and not any(is_floats(one) for one in numbers):
            continue
        with suppress(RuntimeError, NotImplementedError):  # torch has no such operation of this type
            answered = Answered(own, numbers, path)
            sets, like = reference_sets(answered), [one for _, one in answered.own]
            for way, make in ways(own, numbers, kind):
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

"""The answers of a reference itself: at which sizes it has some, in single precision and in double.

Knows torch, and the inputs as they are declared; it knows no trace and no formula.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.inputs import tensors_of
from kfuzz.claims.references.torch.sizes import Steps
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.elements import as_array
from kfuzz.devices.python.torch.modes import UncompiledMode


def least_sizes(
    reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int], steps: Steps, fixed: Mapping[str, int]
) -> dict[str, int]:
    """For each dimension that has one, the size below which the reference does not run, with the others as traced."""
    smallest = {**{name: max(least, multiple) for name, (least, multiple) in steps.items()}, **fixed}
    if does_run(reference, declared, smallest):
        return {}
    free = [name for name in steps if name not in fixed]

    def least_of(name: str, others: Mapping[str, int]) -> int | None:
        tried = range(smallest[name], sizes[name] + 1, steps[name][1])
        return next((n for n in tried if does_run(reference, declared, {**others, name: n})), None)

    alone = {name: least_of(name, sizes) or sizes[name] for name in free}
    every = {**smallest, **alone}
    if not does_run(reference, declared, every):  # a rule over several sizes, as that there are two elements
        name = next((name for name in reversed(free) if least_of(name, every) is not None), None)
        every = {**sizes} if name is None else {**every, name: least_of(name, every) or sizes[name]}
    return {name: every[name] for name in free if every[name] > smallest[name]}


def does_run(reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int]) -> bool:
    """Whether the reference gives elements at these sizes."""
    try:
        with torch.no_grad():
            return all(
                one.numel()
                for one in list_tensors(reference(*tensors_of(declared.dims, sizes, declared.below).values()))
            )
    except Exception:  # any error of torch for such shapes
        return False


def any_nan(reference: Callable[..., Any], given: Mapping[str, torch.Tensor]) -> bool:
    """Whether an answer to these inputs holds NaN."""
    try:
        with torch.no_grad():
            return any(bool(one.isnan().any()) for one in list_tensors(reference(*given.values())))
    except Exception:  # any error of torch for such shapes: the caller calls it again, and reports it
        return False


def list_tensors(results: object) -> list[torch.Tensor]:
    """The returned tensors."""
    every = list(results) if isinstance(results, tuple | list) else [results]
    if not every or not all(isinstance(one, torch.Tensor) for one in every):
        raise CannotError("it does not return a tensor")
    return every


def tensors_returned(results: object) -> list[torch.Tensor]:
    """The returned tensors; of a dict its values."""
    return list_tensors(list(results.values()) if isinstance(results, Mapping) else results)


def answers_of(
    prefix: str,
    outputs: Sequence[str],
    reference: Callable[..., Any],
    given: Mapping[str, torch.Tensor],
    sizes: Mapping[str, int],
) -> dict[str, Any]:
    """The reference's answers, by name."""
    try:
        with torch.no_grad():
            results = tensors_returned(reference(*given.values()))
    except Exception as error:  # any error of torch for such shapes
        at = " ".join(f"{name}={size}" for name, size in sizes.items())
        raise CannotError(
            f"at {at} the reference itself ends with {words_of(error)}; write axes without that"
        ) from None
    return {f"{prefix} {name}": as_array(one.detach()) for name, one in zip(outputs, results, strict=True)}


class Narrowings(UncompiledMode):
    """Records whether torch computes anything in a type narrower than double."""

    seen = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run an operation, and look at its result."""
        out = func(*args, **(kwargs or {}))
        for one in out if isinstance(out, tuple | list) else [out]:
            if isinstance(one, torch.Tensor) and one.is_floating_point() and one.dtype != torch.float64:
                self.seen = True
        return out


def widen_inputs(given: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same numbers in double."""
    return {name: one.double() if one.is_floating_point() else one for name, one in given.items()}


def in_double(
    reference: Callable[..., Any], given: Mapping[str, torch.Tensor], text: str, constants: Mapping[str, Any],
    write: Callable[..., Any],
) -> Callable[..., Any] | None:  # fmt: skip
    """The reference with its own numbers in double; None if it is a different function there.

    F.rms_norm's eps depends on the type, and torch.tensor([0.2989], dtype=x.dtype) is another number in double. A
    reference with its own single-precision numbers may not run at all.
    """
    wide = copy.deepcopy(reference).double() if isinstance(reference, torch.nn.Module) else reference
    try:
        other, _, own, *_ = write(wide, widen_inputs(given))
    except Exception:  # any error of torch for two types that do not go together
        return None
    is_same = other == text and all(np.array_equal(one, own[name], equal_nan=True) for name, one in constants.items())
    return wide if is_same else None

"""Finds a reference in its file, and what its inputs are: dimensions, by their names in get_inputs, and limits.

Knows torch and the text of a file; it knows no set.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.sizes import Below, Dims
from kfuzz.claims.references.torch.storage import unwatched
from kfuzz.devices.python.loading import SEED


class CannotError(Exception):
    """kfuzz cannot write a formula for this reference."""


class NeverJudgedError(CannotError):
    """Whatever its inputs are, no answer of the reference is known."""


class DrawsError(NeverJudgedError):
    """The reference draws random numbers: no answer is right before they are drawn.

    Under one seed in both processes, a right kernel that draws them in another order, or on a GPU, has other ones.
    """

    def __init__(self, how: str, where: str = "") -> None:
        super().__init__(
            f"not judged: {where or 'it'} draws random numbers {how}, so its answers differ from call to call; let "
            "get_inputs draw them and hand them over; a dropout draws nothing with p = 0, or in eval mode: self.eval() "
            "in the class"
        )


class WithoutNumbersError(NeverJudgedError):
    """The reference returns a tensor that has a shape and no numbers."""

    def __init__(self, output: str, kind: str) -> None:
        super().__init__(
            f"not judged: its output {output} is {kind}, which has a shape and no numbers; let the reference compute "
            "on the CPU or on a GPU, outside of FakeTensorMode and torch.device('meta')"
        )


@dataclass(frozen=True)
class Declared:
    """The inputs of a reference: their dimensions, the limits of integers, and the dimensions of only one size.

    `sizes`: the size of each dimension as the file has it. `whole`: the types of inputs that are not float32.
    `narrow`: the types of those of floats of 8 bits or fewer.
    `own`: inputs of integers that only get_inputs knows. `made`: what makes all of them under a seed, if nothing else
    may.
    """

    dims: Dims
    below: Below
    fixed: dict[str, int]
    sizes: Mapping[str, int] = field(default_factory=dict)
    whole: Mapping[str, str] = field(default_factory=dict)
    narrow: Mapping[str, torch.dtype] = field(default_factory=dict)
    own: Collection[str] = ()
    made: Callable[[int], dict[str, torch.Tensor]] | None = None

    def with_integers(self, role: str, below: str) -> "Declared":
        """The same inputs and one more, of one integer."""
        return replace(self, dims={**self.dims, role: ["1"]}, below={**self.below, role: below})

    def with_fixed(self, names: Collection[str]) -> "Declared":
        """The same inputs, whose dimensions of these names have one size."""
        return replace(self, fixed={name: size for name, size in self.sizes.items() if name in names} | self.fixed)


def forgetful(made: torch.nn.Module) -> torch.nn.Module:
    """A model that begins each call with the attributes it was made with: some keep a state for the next call.

    A call without numbers would leave a tensor without numbers there. A batch norm in train mode writes into its
    running values.
    """
    held: list[list[tuple[dict[str, Any], dict[str, Any]]]] = []
    numbers: list[list[tuple[torch.Tensor, torch.Tensor]]] = []

    def before(model: torch.nn.Module, given: object) -> None:
        del given
        spaces = [one for part in model.modules() for one in (vars(part), part._buffers)]
        held.append([(one, dict(one)) for one in spaces])
        with unwatched():
            numbers.append([(one, one.clone()) for one in model.buffers()])

    def after(model: torch.nn.Module, given: object, made: object) -> None:
        del model, given, made
        for space, was in held.pop():
            space.clear()
            space.update(was)
        with unwatched():
            for one, number in numbers.pop():
                one.copy_(number)

    made.register_forward_pre_hook(before)
    made.register_forward_hook(after, always_call=True)
    return made


def reference_of(module: ModuleType, name: str) -> tuple[Callable[..., Any], bool]:
    """The function to call, or `forward` of one object, made as KernelBench makes it, which does not call `eval()`."""
    found = getattr(module, name, None)
    if not callable(found):
        raise CannotError(f"{name} is not a function once the file is imported")
    if not isinstance(found, type):
        return found, False
    made = object_of(found, getattr(module, "get_init_inputs", list)())
    return (made if callable(made) else made.forward), True


def object_of(of: type, inputs: Sequence[Any]) -> Any:  # noqa: ANN401  an object of their class
    """An object that is made with these, and keeps no gradients of its weights."""
    torch.manual_seed(SEED)
    made = of(*inputs)
    made = forgetful(made) if isinstance(made, torch.nn.Module) else made
    for parameter in made.parameters() if isinstance(made, torch.nn.Module) else ():
        parameter.requires_grad_(False)
    return made

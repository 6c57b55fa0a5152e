"""Weights that are one number by default, such as a norm's 1 and 0: drawn while an object is made.

A kernel that ignores the weight and the bias of a norm is right by its defaults. While `drawn` is entered, what fills a
tensor with one number draws numbers; an object that keeps something of its weights keeps the drawn ones. What torch
draws by itself, such as the weights of a convolution, stays. Knows torch's initialisers; it knows no formula.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.nn.modules.batchnorm import _NormBase

SETS = 3
"""The object's own weights, drawn ones of moderate size, and drawn ones of either sign and many sizes."""
POWERS = (0.0, 1.0, 3.0)
"""In each set, the powers of two up to which a drawn factor lies from 1."""


@contextmanager
def drawn(number: int) -> Iterator[None]:
    """Let torch's initialisers draw the numbers of this set; of set 0 nothing is drawn."""
    if not number:
        yield
        return
    made = Draws(number)
    reset = _NormBase.reset_running_stats

    def reset_running_stats(norm: Any) -> None:  # noqa: ANN401  a module of torch
        reset(norm)
        if norm.track_running_stats:
            made.fill(norm.running_mean, 0.0)
            made.fill(norm.running_var, 1.0, is_positive=True)

    with (
        patch.object(torch.nn.init, "ones_", lambda tensor: made.fill(tensor, 1.0)),
        patch.object(torch.nn.init, "zeros_", lambda tensor: made.fill(tensor, 0.0)),
        patch.object(torch.nn.init, "constant_", lambda tensor, val: made.fill(tensor, float(val))),
        patch.object(_NormBase, "reset_running_stats", reset_running_stats),
    ):
        yield


class Draws:
    """The numbers of a set: the tensors that are filled have numbers of their own, in the order in which they are."""

    def __init__(self, number: int) -> None:
        self.number, self.count = number, 0

    def fill(self, tensor: torch.Tensor, usual: float, is_positive: bool = False) -> torch.Tensor:
        """Fill a tensor whose elements would all be `usual`."""
        self.count += 1
        random = np.random.Generator(np.random.Philox(key=[self.number, self.count])).random((2, *tensor.shape))
        size = np.exp2((2 * random[0] - 1) * POWERS[self.number])
        sign = 1.0 if is_positive or self.number == 1 else np.where(random[1] < 0.5, -1.0, 1.0)
        numbers = (usual or np.where(random[1] < 0.25, -1.0, 1.0)) * sign * size
        with torch.no_grad():
            return tensor.copy_(torch.from_numpy(np.asarray(numbers)))


def states_of(objects: Sequence[torch.nn.Module]) -> list[dict[str, str]]:
    """For each object, the state that is another one in them, by name, as a digest of its numbers."""
    first, *others = (one.state_dict() for one in objects)
    differing = [name for name, held in first.items() if any(not torch.equal(held, one[name]) for one in others)]
    return [{name: digest_of(one[name]) for name in differing} for one in (first, *others)]


def digest_of(tensor: torch.Tensor) -> str:
    """The numbers of a tensor, and its shape, in a few letters."""
    numbers = tensor.detach().cpu().to(torch.float64).contiguous().numpy()
    return hashlib.sha256(f"{numbers.shape}".encode() + numbers.tobytes()).hexdigest()[:12]


def difference(made: object, wanted: Mapping[str, str]) -> str:
    """Which of the drawn weights an object lacks, or has other numbers for; empty if it has them all."""
    state = made.state_dict() if isinstance(made, torch.nn.Module) else {}
    if missing := [name for name in wanted if name not in state]:
        return f"no {missing[0]}"
    others = [name for name, digest in wanted.items() if digest_of(state[name]) != digest]
    return f"another {others[0]}" if others else ""


class Chosen(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
    """Objects of one class whose weights differ, as a function of tensors, the last of which says which object.

    `chosen`: the object that is called, whatever that tensor says, while torch runs without numbers.
    """

    def __init__(self, objects: Sequence[torch.nn.Module], calls: Sequence[Any], role: str) -> None:
        super().__init__()
        self.objects, self.calls, self.role = torch.nn.ModuleList(objects), tuple(calls), role
        self.chosen: int | None = None

    def forward(self, *tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        *given, which = tensors
        number = int(which) if self.chosen is None else self.chosen
        return self.calls[number](*given)

    @contextmanager
    def as_chosen(self, number: int) -> Iterator[None]:
        """Call one of the objects."""
        self.chosen = number
        try:
            yield
        finally:
            self.chosen = None


def as_one_object(call: Any, number: int = 0) -> AbstractContextManager[None]:  # noqa: ANN401  any reference
    """Call one of the objects of a reference that chooses, for a call without numbers."""
    return call.as_chosen(number) if isinstance(call, Chosen) else nullcontext()

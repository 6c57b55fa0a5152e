"""The word for a loop that has a state: the same steps in every number system. It knows no arithmetic."""

from collections.abc import Callable, Sequence
from typing import Any

from kfuzz.oracle.systems.value import Quantity

LoopStep = Callable[..., Sequence[Quantity]]
"""A function (inputs of one step, *state) -> the state after it."""


class LoopWords:
    """The word of this file, for a system to inherit."""

    def steps(
        self: Any, step: LoopStep, state: Sequence[Quantity], x: Quantity, reverse: bool = False
    ) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
        """The state after the last step, and after each one, for x [..., steps, features]; `reverse`: from its end."""
        length = x.shape[-2]
        every: list[tuple[Quantity, ...]] = []
        held = tuple(state)
        for t in reversed(range(length)) if reverse else range(length):
            held = tuple(step(x[..., t, :], *held))
            every.append(held)
        if reverse:
            every.reverse()
        return held, tuple(
            self.join(*(one[..., None, :] for one in each), axis=-2) for each in zip(*every, strict=True)
        )

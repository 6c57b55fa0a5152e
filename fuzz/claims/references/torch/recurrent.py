"""torch's recurrent networks as one operation of a trace each, for any number of steps.

A trace of their own code has as many steps as the input that was traced, and no more sizes than that one.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

KINDS = {"gru": 1, "lstm": 2, "rnn_tanh": 1}
"""The networks that have a rule, each with its number of states."""
OWN: dict[str, Callable[..., Any]] = {}
"""torch's own functions."""


def keep_whole() -> None:
    """Have torch.nn.GRU, LSTM and RNN call one operation for a whole network; a packed sequence stays torch's."""
    if OWN:
        return
    for kind, states in KINDS.items():
        OWN[kind] = getattr(torch._VF, kind)
        setattr(torch._VF, kind, _calling(kind, _operation(kind), states))


def _operation(kind: str) -> Callable[..., Any]:
    def run(
        x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
        layers: int, both_ways: bool, batch_first: bool,
    ) -> list[torch.Tensor]:  # fmt: skip
        held = tuple(states) if len(states) > 1 else states[0]
        made = OWN[kind](x, held, list(weights), has_biases, layers, 0.0, False, both_ways, batch_first)
        return [one.clone() for one in made]

    def shaped(
        x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
        layers: int, both_ways: bool, batch_first: bool,
    ) -> list[torch.Tensor]:  # fmt: skip
        hidden = states[0].shape[-1] * (2 if both_ways else 1)
        return [x.new_empty((*x.shape[:-1], hidden)), *(torch.empty_like(one) for one in states)]

    made = torch.library.custom_op(f"kfuzz::{kind}", run, mutates_args=())
    made.register_fake(shaped)
    return made  # type: ignore[no-any-return]  # torch is not there where types are checked


def _calling(kind: str, operation: Callable[..., Any], states: int) -> Callable[..., Any]:
    def call(*args: Any) -> Any:  # noqa: ANN401  torch's own arguments
        if len(args) != 9 or isinstance(args[3], torch.Tensor | list | tuple) or (args[5] and args[6]):
            return OWN[kind](*args)  # a packed sequence, or a dropout between layers
        x, held, weights, has_biases, layers, _, _, both_ways, batch_first = args
        given = list(held) if states > 1 else [held]
        return tuple(operation(x, given, list(weights), has_biases, layers, both_ways, batch_first))

    return call

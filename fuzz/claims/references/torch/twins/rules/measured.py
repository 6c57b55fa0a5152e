"""What has no rule: measured at points within the operands' sets. It is the ground of a warning, never of an error."""

import torch

from kfuzz.claims.references.torch.twins.sets import UNITS, NumberSet, StepResult, numbers_of
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

POINTS = 6
ROOM = 4.0


def measure(run: Roundings, op: Operation) -> list[StepResult]:
    """Move the operands within their sets, and by some units of their last place."""
    run.note_measured(op.name)
    try:
        x = [_held(one) for one in op.at(lambda one: one.number if one.dtype in UNITS else one.x)]
    except Exception:  # of torch, which does not have it in float64
        unknown = [torch.full(one.shape, torch.inf, dtype=torch.float64) for one in op.results]
        return [StepResult(numbers_of(one.detach()), r) for one, r in zip(op.results, unknown, strict=True)]
    spread = [torch.zeros(one.shape, dtype=torch.float64) for one in x]
    generator = torch.Generator().manual_seed(1)

    def moved(one: NumberSet) -> torch.Tensor:
        if one.dtype not in UNITS:
            return one.x
        signs = 2.0 * torch.randint(0, 2, one.x.shape, generator=generator) - 1
        return one.number + signs * (one.radius + ROOM * run.fine * one.size).nan_to_num(0)

    for _ in range(POINTS):
        try:
            made = op.at(moved)
        except Exception:  # of torch, at such operands
            spread = [torch.full(one.shape, torch.inf, dtype=torch.float64) for one in x]
            break
        away = [(_held(one) - own).abs().double().nan_to_num(torch.inf) for one, own in zip(made, x, strict=True)]
        spread = [torch.maximum(old, new) for old, new in zip(spread, away, strict=True)]
    return [
        StepResult(one, None, ROOM * away + ROOM * run.fine * one.abs()) if to.dtype in UNITS else StepResult(one, away)
        for one, away, to in zip(x, spread, op.results, strict=False)
    ]


def _held(one: torch.Tensor) -> torch.Tensor:
    return one.double() if one.is_floating_point() else one


RULES = {"measured": measure}

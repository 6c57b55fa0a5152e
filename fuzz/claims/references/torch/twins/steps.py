"""The steps of one run of a reference: its lines, values and radii, and how much each moves the answer.

Knows how to run a reference; it knows no page.
"""

from dataclasses import dataclass

import torch

from kfuzz.claims.references.torch.twins.run import SeenStep, StepNoise
from kfuzz.claims.references.torch.twins.sets import NumberSet, UnstableError
from kfuzz.claims.references.torch.twins.three_runs import Answered

MOST_STEPS = 300
"""The steps of which kfuzz measures how far they move the answer: a run for each."""


@dataclass(frozen=True)
class ShownStep:
    """A step in numbers and words. `moves`: how far its own rounding moves the answer; None if it was not measured."""

    place: str
    text: str
    operation: str
    result: str
    least: float
    greatest: float
    radius: float
    moves: float | None


def steps_of(answered: Answered) -> list[ShownStep]:
    """Every step of one run, in its order; a CannotError if no answer can be judged by it."""
    answered.check_repeats()
    run, made = answered.run(is_traced=True)
    moves = [
        moved_by(answered, [one for _, _, one in made], number) if number < MOST_STEPS else None
        for number in range(len(run.notes.steps))
    ]
    return [shown(one, by) for one, by in zip(run.notes.steps, moves, strict=True)]


def moved_by(answered: Answered, made: list[NumberSet], number: int) -> float | None:
    """How far an answer moves if this step alone errs by what it may."""
    try:
        _, moved = answered.run(noise=StepNoise(torch.Generator().manual_seed(1), only=number))
        away = [(one.number - own.number).abs() for (_, _, one), own in zip(moved, made, strict=True)]
    except (UnstableError, RuntimeError):  # a shape goes by roundings
        return None
    return max((float(one[one.isfinite()].max()) for one in away if bool(one.isfinite().any())), default=0.0)


def shown(step: SeenStep, moves: float | None) -> ShownStep:
    """A step with the range of its values, and the largest radius."""
    one = step.result
    x = one.size if one.x.is_complex() else one.number
    least, greatest = (float(end) for end in x.aminmax()) if x.numel() else (0.0, 0.0)
    radius = float(one.radius.max()) if x.numel() else 0.0
    kind = str(one.dtype).removeprefix("torch.")
    return ShownStep(step.place, step.text, step.operation, f"{kind}{list(x.shape)}", least, greatest, radius, moves)

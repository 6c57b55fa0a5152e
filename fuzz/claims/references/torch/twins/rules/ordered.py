"""Operations that rise or fall in each operand, and round nothing."""

from dataclasses import replace

import torch

from kfuzz.claims.references.torch.twins.ranks import ranks_of_extremes
from kfuzz.claims.references.torch.twins.rules.shared import at_corners, of_integers
from kfuzz.claims.references.torch.twins.sets import UNITS, StepResult
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, axes_in

NAMES = (
    "maximum", "minimum", "fmax", "fmin", "amax", "amin", "clamp", "clamp_min", "clamp_max", "relu", "hardtanh",
    "floor", "ceil", "trunc", "round", "nan_to_num", "median", "aminmax", "heaviside",
)  # fmt: skip
POOLS = ("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d")


def rise(run: Roundings, op: Operation) -> list[StepResult]:
    """At all corners; integers as their type wraps them. A place among the results is not known."""
    made = at_corners(run, op) if op.dtype in UNITS else of_integers(run, op)
    if op.name in ("amax", "amin"):
        axes = axes_in(op.option(1, "dim", []), op.args[0].x.ndim)
        keep = bool(op.option(2, "keepdim", False))
        made[0] = replace(made[0], joint=ranks_of_extremes(op.args[0], axes, op.name == "amax", keep))
    if len(made) > 1 and op.name == "median":
        made[1] = StepResult(made[1].x, torch.full(made[1].x.shape, torch.inf, dtype=torch.float64))
    return made


def pooled(run: Roundings, op: Operation) -> list[StepResult]:
    """The largest numbers of windows, and their places: known if all numbers are, and no two of a window are equal."""
    made = op.at(lambda one: one.number)
    low, high = (op.at(lambda one: one.end(sign).double())[0] for sign in (-1, 1))  # noqa: B023  used at once
    r = torch.where(made[0].isinf() & (high == low), 0.0, torch.maximum(high - made[0], made[0] - low))
    first, last = (op.at(lambda one: tilted(one.number, sign))[1:] for sign in (-1, 1))  # noqa: B023  used at once
    places = [
        StepResult(one, torch.where((r > 0) | (a != b), torch.inf, 0.0))
        for one, a, b in zip(made[1:], first, last, strict=True)
    ]
    return [StepResult(made[0], r), *places]


def tilted(x: torch.Tensor, sign: int) -> torch.Tensor:
    """Numbers that rise or fall by far less than they differ, so that of equal ones the last, or the first, counts."""
    plane = x.shape[-1] * (x.shape[-2] if x.ndim > 2 else 1)
    rise = torch.arange(x.numel()).reshape(x.shape) % (plane * (x.shape[-3] if x.ndim > 4 else 1))
    size = x.abs().nan_to_num(0, posinf=0).max().clamp(min=2.0**-126) if x.numel() else torch.ones(())
    plain = x.clamp(-2 * size, 2 * size).nan_to_num(4 * float(size))  # infinities, and NaNs, are equal, too
    return plain + sign * size * 2.0**-30 * rise / max(plane, 1)


RULES = {
    **dict.fromkeys(NAMES, rise),
    **dict.fromkeys(POOLS, pooled),
}  # fmt: skip

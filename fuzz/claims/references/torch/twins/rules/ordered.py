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


RULES = dict.fromkeys(NAMES, rise)

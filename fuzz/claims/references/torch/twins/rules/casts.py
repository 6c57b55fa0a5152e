"""Copies, perhaps as another type."""

from dataclasses import replace

import torch

from kfuzz.claims.references.torch.twins.rules.moves import move
from kfuzz.claims.references.torch.twins.rules.shared import holds, rounding
from kfuzz.claims.references.torch.twins.sets import (
    FP4,
    GRIDS,
    UNITS,
    NumberSet,
    Ranked,
    StepResult,
    in_type,
    to_infinity,
)
from kfuzz.claims.references.torch.twins.sets import wide_type as wide
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

WHOLE = 2.0**62


def convert(run: Roundings, op: Operation) -> list[StepResult]:
    """A copy in the result's type. A float is not rounded itself: a kernel may keep more digits."""
    a = op.args[1] if op.name.startswith("copy") else op.args[0]
    if not isinstance(a, NumberSet):
        return move(run, op)
    dtype, x, r = op.dtype, a.x, a.r
    if isinstance(a.joint, Ranked) and op.name == "_to_copy" and not dtype.is_floating_point and dtype != torch.bool:
        return [replace(_to_integers(a, dtype), joint=a.joint if has_places(dtype, a.joint) else None)]
    if dtype in GRIDS:
        return [_to_grid(a, dtype)]
    if dtype in UNITS:
        x = x.to(wide(dtype)) if not x.is_complex() or dtype.is_complex else x.real
        loses = UNITS.get(a.dtype, 0.0) < UNITS[dtype] or a.dtype not in UNITS
        error = rounding(run, x, dtype, None, holds(x, dtype) & (a.radius == 0)) if loses else None
        return [StepResult(x, r, error, top=a.top)]
    if dtype == torch.bool:
        return [StepResult(x != 0, None if r is None else ((x.abs().double() <= r) & (r > 0)).double())]
    return [_to_integers(a, dtype)]


def has_places(dtype: torch.dtype, places: Ranked) -> bool:
    """Whether a type of integers has all places of a row."""
    return not dtype.is_complex and bool(places.among.x.shape[-1] <= torch.iinfo(dtype).max)


def _to_grid(a: NumberSet, dtype: torch.dtype) -> StepResult:
    """Both ends rounded to a type of few numbers; packed bytes as they are."""
    every = (a.number, a.end(-1).double(), a.end(1).double())
    x, low, high = (one if dtype == FP4 else in_type(one, dtype).double() for one in every)
    if a.is_exact:
        return StepResult(x)
    away = to_infinity(torch.maximum(high - x, x - low))
    return StepResult(x, torch.where(a.radius.isfinite(), away, torch.inf))


def _to_integers(a: NumberSet, dtype: torch.dtype) -> StepResult:
    """Both ends cut to integers; one that the type does not have is what torch makes of it."""
    info = torch.iinfo(dtype)

    def cut(one: torch.Tensor) -> torch.Tensor:
        if one.dtype != torch.float64:
            return one.to(torch.int64)
        return one.nan_to_num(0).clamp(-WHOLE, WHOLE).trunc().to(torch.int64)

    x, low, high = cut(a.x), cut(a.end(-1)), cut(a.end(1))
    is_outside = (x < info.min) | (x > info.max)
    held = torch.where(is_outside, x.to(dtype).to(torch.int64), x)
    if a.is_exact and not bool(is_outside.any()) and bool(a.number.isfinite().all()):
        return StepResult(held)
    r = torch.maximum((high - x).abs(), (x - low).abs()).double()
    is_lost = is_outside | (low < info.min) | (high > info.max) | ~a.radius.isfinite()
    if a.dtype in UNITS:  # of a float that an integer does not hold, anything may come
        r = torch.where(is_lost | ~a.number.isfinite(), torch.inf, r)
    else:
        r = torch.where((r > 0) & is_lost, torch.inf, r)
    return StepResult(held, r)


RULES = dict.fromkeys(("_to_copy", "copy", "type_as"), convert)

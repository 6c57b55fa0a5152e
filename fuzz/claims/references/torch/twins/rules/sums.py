"""Sums in any order, of all numbers or of those of a window, perhaps with weights that are positive."""

from math import prod

import torch

from kfuzz.claims.references.torch.twins.rules.shared import TRUTHS, finite, holds, rounding
from kfuzz.claims.references.torch.twins.sets import (
    LEAST,
    MOST_SINGLE,
    TINY,
    UNITS,
    StepResult,
    are_all_short,
    gamma,
    unknown_where,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, axes_in

POOLS = ("avg_pool1d", "avg_pool2d", "avg_pool3d")
ADAPTIVE = ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d")
BLENDS = ("upsample_bilinear2d", "upsample_linear1d", "upsample_trilinear3d")
SCANS = 2
"""A scan in parallel goes up a tree and down again."""
MOST_WHOLE = 2.0**24 / 2.0**8
"""Short numbers whose sizes have a sum below this have exact sums in float32."""


def terms_of(op: Operation) -> int:
    """How many numbers each sum has."""
    shape = [int(size) for size in op.args[0].x.shape]
    if op.name in POOLS:
        window = op.args[1] if isinstance(op.args[1], list | tuple) else [op.args[1]]
        return prod([int(one) for one in window] * (int(op.name[-2]) if len(window) == 1 else 1))
    if op.name in ADAPTIVE:
        pairs = zip(reversed(shape), reversed(op.results[0].shape[2:]), strict=False)
        return prod([-(-one // int(to)) + 1 for one, to in pairs])
    if not shape:
        return 1
    if op.name == "cumsum":
        return shape[int(op.args[1])]
    if op.name == "trace":
        return min(shape)
    return prod(shape[axis] for axis in axes_in(op.option(1, "dim"), len(shape)))


def add_up(run: Roundings, op: Operation) -> list[StepResult]:
    """A sum, in whatever order and in whatever tree."""
    a, dtype = op.args[0], op.dtype
    if dtype not in UNITS:
        x = op.values()[0]
        r = None if op.is_exact else op.at(lambda one: one.radius, dtype=torch.float64)[0]
        return [StepResult(x.to(dtype).to(torch.int64), r)]
    x = op.at(lambda one: one.number)[0]
    size, count = op.at(lambda one: one.size)[0], max(terms_of(op), 1)
    r = None if op.is_exact else op.at(lambda one: one.radius)[0]
    times = count if op.name == "mean" else 1
    lost = ~(size * times < MOST_SINGLE)
    if bool(lost.any()):  # an infinity among finite numbers stays one, and NaN stays NaN
        plain = op.at(lambda one: finite(one.size) + one.radius)[0]
        lost = lost & ~((x.isinf() | x.isnan()) & (plain * times < MOST_SINGLE))
    r = unknown_where(lost, x, r)
    is_mean = op.name not in ("sum", "cumsum", "trace")
    more = gamma(count + 1 + 2 * is_mean, run.fine) * finite(size)
    if op.name == "cumsum" and run.unit(dtype) > run.fine:  # a GPU's scan stores its partial sums in their type
        more = more + gamma(SCANS * count.bit_length(), run.unit(dtype)) * finite(size)
    whole = size * (count if is_mean else 1)
    kept = TRUTHS[not is_mean and count == 1]
    if not x.is_complex() and a.is_exact and (count & (count - 1) == 0 if is_mean else count > 1):
        short = are_all_short(a.number if a.known.is_finite else finite(a.number))
        kept = (whole < MOST_WHOLE) & holds(x, dtype) if short else kept
    return [StepResult(x, r, rounding(run, x, dtype, more + count * TINY * (dtype not in LEAST), kept))]


def blend(run: Roundings, op: Operation) -> list[StepResult]:
    """Weighted means of neighbours: the weights go by places, which are rounded, too."""
    a = op.args[0]
    x = op.at(lambda one: one.number)[0]
    r = None if op.is_exact else op.at(lambda one: one.radius)[0]
    axes = a.x.ndim - 2
    pool = (torch.nn.functional.max_pool1d, torch.nn.functional.max_pool2d, torch.nn.functional.max_pool3d)[axes - 1]
    near = pool(finite(a.size), 3, 1, 1)
    size = Operation(op.name, op.func, [near, *op.args[1:]], op.kwargs, op.results).at(lambda one: one.x)[0]
    places = 8 + 4 * sum(a.x.shape[2:]) + 4 * sum(op.results[0].shape[2:])
    return [StepResult(x, unknown_where(x.isnan(), x, r), rounding(run, x, op.dtype, places * run.fine * size))]


def multiply_up(run: Roundings, op: Operation) -> list[StepResult]:
    """A product of many factors."""
    a, dtype = op.args[0], op.dtype
    if dtype not in UNITS:
        x = op.values()[0]
        return [
            StepResult(
                x.to(dtype).to(torch.int64),
                None if op.is_exact else torch.full(x.shape, torch.inf, dtype=torch.float64),
            )
        ]
    x = op.at(lambda one: one.number)[0]
    r = None if op.is_exact else op.at(lambda one: one.size + one.radius)[0] - op.at(lambda one: one.size)[0]
    shape = a.x.shape
    axis = op.option(1, "dim")
    count = a.x.numel() if not isinstance(axis, int) or not shape else shape[axis]
    top = op.at(lambda one: (one.size + one.radius).clamp(min=1))[0]
    low = op.at(lambda one: torch.where(one.size == 0, 1.0, one.size.clamp(max=1)))[0]
    r = unknown_where((top >= MOST_SINGLE) | (low <= TINY), x, r)  # on the way
    return [StepResult(x, r, rounding(run, x, dtype, gamma(count, max(run.fine, run.unit(dtype))) * finite(x.abs())))]


RULES = {
    **dict.fromkeys(("sum", "mean", "cumsum", "trace", *POOLS, *ADAPTIVE), add_up), **dict.fromkeys(BLENDS, blend),
    "prod": multiply_up, "cumprod": multiply_up,
}  # fmt: skip

"""Norms of batches, groups and rows: what they lose in 16 bits, and how far from 0 their numbers may lie at all.

torch stores the means and the factors of batches and groups in the type of the input. Knows what these operations give;
it knows no rule.
"""

from collections.abc import Sequence
from typing import Any

import torch

from kfuzz.claims.references.torch.twins.sets import MOST_SINGLE, SINGLE, UNITS, NumberSet, gamma

BATCHES = ("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training")
GROUPS, ROWS = "native_group_norm", "native_layer_norm"
NORMS = frozenset((*BATCHES, GROUPS))
HALVES = frozenset(one for one, unit in UNITS.items() if unit > SINGLE)
"""The types of 16 bits."""
TIMES = 2.0
"""A factor and a mean are rounded, and so are their products with the weights."""


def lost_by_statistics(name: str, args: Sequence[Any], y: NumberSet) -> torch.Tensor:
    """What the answer of a norm loses by them: docs/numerics.md#twins. `args`: with sets for tensors."""
    x, weight, bias = args[0].number, *(None if one is None else one.number for one in args[1:3])
    mean, variance = of_groups(x, args[6]) if name == GROUPS else of_channels(name, x, args)
    moved = mean.abs() * (variance + args[-1]).rsqrt()
    by_channel = (1, -1, *[1] * (x.ndim - 2))
    if weight is not None:
        moved = moved * weight.abs().reshape(by_channel)
    away = y.number if bias is None else y.number - bias.reshape(by_channel)
    lost = TIMES * (away.abs() + moved) + y.size
    return UNITS[y.dtype] * lost.nan_to_num(0, posinf=0)


def farthest(
    name: str, args: Sequence[Any], y: NumberSet, fine: float, unit: float, *, by_moments: bool
) -> torch.Tensor:  # fmt: skip
    """A radius that holds whatever numbers are normalised: none is further than sqrt(n - 1) deviations from the mean of
    n numbers. Infinite where it says nothing: docs/numerics.md#twins. `args`: with sets for tensors.
    """
    x, every = args[0], torch.full(y.x.shape, torch.inf, dtype=torch.float64)
    if (name in BATCHES and (name.endswith("no_training") or not args[5])) or not x.x.numel():
        return every
    rows, eps = in_rows(name, x.size + x.radius, args), args[-1]
    count = rows.shape[-1]
    size = (rows * rows).mean(-1, keepdim=True).sqrt()
    most = most_deviations(size, count, eps, fine, by_moments=by_moments)
    most = torch.where(size * size * count < MOST_SINGLE, most, torch.inf)
    shape = [1] * (y.x.ndim - len(args[1])) + list(args[1]) if name == ROWS else [1, -1, *[1] * (y.x.ndim - 2)]
    weight, bias = (
        None if one is None else NumberSet(one.number.reshape(shape), one.radius.reshape(shape), one.dtype)
        for one in (args[2:4] if name == ROWS else args[1:3])
    )
    most = from_rows(name, most.expand(rows.shape), y.x.shape, args)
    if weight is not None:
        most = most * (weight.size + weight.radius)
    away, its = (y.size, 0.0) if bias is None else ((y.number - bias.number).abs(), bias.size + bias.radius)
    held = most * (1 + 8 * unit) + 4 * unit * its + (0.0 if bias is None else bias.radius)
    return torch.where(y.number.isfinite() & held.isfinite(), away + held, every)


def most_deviations(size: torch.Tensor, count: int, eps: float, fine: float, *, by_moments: bool) -> torch.Tensor:
    """How far from 0 one of so many numbers may lie once they are normalised, whatever they are.

    `size`: the root of the mean of their squares. `by_moments`: their variance may be found from moments.
    """
    if eps <= 0 or gamma(count + 6, fine) > 1 / 8:
        return torch.full_like(size, torch.inf)
    widest, least, center = (count - 1) ** 0.5, eps**0.5, gamma(count + 3, fine) * size
    moved = center + 4 * fine * (count**0.5 + 1) * size
    if by_moments:
        lost = 2 * gamma(count + 6, fine) * size * size + center * center + 9 * fine * size * size
        return widest * (1 + lost / eps).sqrt() + moved / least
    small = 32 * fine * size + 2 * center
    return torch.maximum(torch.full_like(size, 2 * (count**0.5 + 1)), (widest * small + moved) / least)


def in_rows(name: str, x: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
    """Numbers with those that are normalised together along the last axis."""
    if name == ROWS:
        return x.reshape(*x.shape[: x.ndim - len(args[1])], -1)
    return x.reshape(x.shape[0], args[6], -1) if name == GROUPS else x.transpose(0, 1).flatten(1)


def from_rows(name: str, rows: torch.Tensor, shape: Sequence[int], args: Sequence[Any]) -> torch.Tensor:
    """The same numbers in their own shape."""
    if name in (ROWS, GROUPS):
        return rows.reshape(tuple(shape))
    return rows.reshape(shape[1], shape[0], *shape[2:]).transpose(0, 1)


def of_groups(x: torch.Tensor, groups: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean and the variance of each group, for each of its channels."""
    rows = x.reshape(x.shape[0], groups, -1)
    shape = (*x.shape[:2], *[1] * (x.ndim - 2))
    made = (one.repeat_interleave(x.shape[1] // groups, 1) for one in (rows.mean(-1), rows.var(-1, correction=0)))
    mean, variance = (one.reshape(shape) for one in made)
    return mean, variance


def of_channels(name: str, x: torch.Tensor, args: Sequence[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean and the variance of each channel: of this batch, or those that were seen before."""
    if name.endswith("no_training") or not args[5]:
        mean, variance = args[3].number, args[4].number
    else:
        axes = [axis for axis in range(x.ndim) if axis != 1]
        mean, variance = x.mean(axes), x.var(axes, correction=0)
    shape = (1, -1, *[1] * (x.ndim - 2))
    return mean.reshape(shape), variance.reshape(shape)

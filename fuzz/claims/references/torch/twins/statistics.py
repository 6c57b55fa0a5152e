"""Norms of batches and groups in 16 bits: torch stores their means and their factors in the type of the input.

Knows what these operations give; it knows no rule.
"""

from collections.abc import Sequence
from typing import Any

import torch

from kfuzz.claims.references.torch.twins.sets import SINGLE, UNITS, NumberSet

BATCHES = ("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training")
GROUPS = "native_group_norm"
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

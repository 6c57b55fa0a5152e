"""Numbers of a known rank in a row, such as the least of the largest k, compared with the numbers of that row.

As sets of their own both would be independent, and it would be open whether a number is no less than itself. Knows
sets; it knows no operation.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch

from kfuzz.claims.references.torch.storage import key_of
from kfuzz.claims.references.torch.twins.sets import NumberSet, Ranked, RowRanks

FLIPPED = {"ge": "le", "le": "ge", "gt": "lt", "lt": "gt", "eq": "eq", "ne": "ne"}
"""A comparison with its operands in the other order."""
MOST_COMPARED = 2**24
"""So many numbers are compared with those that are sought: 128 MiB."""
MOST_WAYS = 32
"""Of more numbers that are near each other, nothing is known of what lies at their places elsewhere."""
Truths = tuple[torch.Tensor, torch.Tensor]
"""Where a comparison is certainly true, and where it certainly is not."""


def least_ranks(ranks: RowRanks, axes: Sequence[int], is_largest: bool, keepdim: bool) -> RowRanks | None:
    """The ranks of the least, or the largest, along axes; None if numbers of several rows meet there."""
    low, high = (best(ranks.row, axes, keepdim=keepdim) for best in (torch.amin, torch.amax))
    if not bool((low == high).all()):
        return None
    best = torch.amin if is_largest else torch.amax
    return replace(ranks, row=low, rank=best(ranks.rank, axes, keepdim=keepdim))


def state_of_arrays(one: NumberSet) -> tuple[object, ...] | None:
    """What is equal for two views of one set's arrays if nothing was written between; None of exact numbers."""
    if one.r is None or one.x.is_complex():
        return None
    return (key_of(one.x), key_of(one.r), one.r.storage_offset() - one.x.storage_offset(), one.writes)


def ranks_of(a: NumberSet, axes: Sequence[int], rank: torch.Tensor, keepdim: bool = True) -> RowRanks | None:
    """The ranks of results of the rows of `a` along axes, of which each has as many as `rank`, along the only axis."""
    state = state_of_arrays(a)
    if state is None or not a.x.numel():
        return None
    kept = [size for axis, size in enumerate(a.x.shape) if axis not in axes]
    row = torch.arange(a.x.numel() // max(_count(a, axes), 1)).reshape(kept)
    for axis in sorted(axes) if keepdim else ():
        row = row.unsqueeze(axis)
    if rank.ndim:
        shape = [len(rank) if axis in axes else 1 for axis in range(a.x.ndim)]
        row, rank = torch.broadcast_tensors(row, rank.reshape(shape))
    return RowRanks(a, tuple(axes), state, row, rank.expand(row.shape))


def ranks_of_extremes(a: NumberSet, axes: Sequence[int], is_largest: bool, keepdim: bool) -> RowRanks | None:
    """The ranks of the largest, or the least, numbers along axes; of numbers with ranks by those."""
    axes = [axis % max(a.x.ndim, 1) for axis in axes] or list(range(a.x.ndim))
    if not a.x.numel() or not a.x.ndim:
        return None
    if isinstance(a.joint, RowRanks):
        return least_ranks(a.joint, axes, is_largest, keepdim)
    return ranks_of(a, axes, torch.tensor(0 if is_largest else _count(a, axes) - 1), keepdim)


def _count(a: NumberSet, axes: Sequence[int]) -> int:
    count = 1
    for axis in axes:
        count *= int(a.x.shape[axis])
    return count


def compare_with_rank(name: str, a: NumberSet, b: NumberSet) -> Truths | None:
    """Where numbers are certainly above one of a rank in their row, or are not; None if it is none of theirs."""
    for numbers, other, own in ((a, b, name), (b, a, FLIPPED[name])):
        ranks = other.joint
        if isinstance(ranks, RowRanks) and ranks.state == state_of_arrays(numbers):
            return _compare(own, numbers, ranks)
    return None


def _compare(name: str, numbers: NumberSet, ranks: RowRanks) -> Truths:
    among, axes = ranks.among, list(ranks.axes)
    order = [axis for axis in range(among.x.ndim) if axis not in axes] + axes
    count = _count(among, axes)
    memory = torch.arange(among.x.untyped_storage().nbytes() // among.x.element_size())
    places = _as_view(memory, among.x).permute(order).reshape(-1)
    number_at = torch.full_like(memory, -1)
    number_at[places] = torch.arange(len(places))
    at = _as_view(number_at, numbers.x)
    low, high = (among.end(sign).double().permute(order).reshape(-1, count) for sign in (-1, 1))
    is_known = ~(low.isnan() | high.isnan()).any(-1)
    is_own = (at >= 0) & (at // count == ranks.row) & is_known[(at // count).clamp(min=0)]
    at = at.clamp(min=0)
    most_above, above, most_before, before = (part.reshape(-1)[at] for part in _numbers_before(low, high))
    no_less = (most_above <= ranks.rank, above > ranks.rank)
    above_it = (most_before + 1 <= ranks.rank, before + 1 > ranks.rank)
    match name:
        case "ge":
            truths = no_less
        case "gt":
            truths = above_it
        case "lt":
            truths = no_less[::-1]
        case "le":
            truths = above_it[::-1]
        case _:
            same, other = no_less[0] & above_it[1], no_less[1] | above_it[0]
            truths = (same, other) if name == "eq" else (other, same)
    return truths[0] & is_own, truths[1] & is_own


def _as_view(memory: torch.Tensor, one: torch.Tensor) -> torch.Tensor:
    return memory.as_strided(one.shape, one.stride(), one.storage_offset())


def ways_of_places(index: NumberSet) -> list[torch.Tensor] | None:
    """Indices of which each place has every other one at which what was sought may lie; None if there are too many."""
    joint, is_open = index.joint, index.radius > 0
    if not isinstance(joint, Ranked) or bool((joint.row[is_open] < 0).any()):
        return None
    row, wanted, its = (part[is_open].unsqueeze(-1) for part in (joint.row, joint.wanted.x, joint.wanted.radius))
    if row.numel() * joint.among.x.shape[-1] > MOST_COMPARED:
        return None
    near = is_near(joint.among.x[row[:, 0]], joint.among.radius[row[:, 0]], wanted, its)
    count = near.sum(-1)
    most = int(count.max()) if count.numel() else 0
    if most > MOST_WAYS:
        return None
    places = near.byte().sort(dim=-1, descending=True, stable=True).indices
    ways = [index.x]
    for number in range(most):
        other = index.x.clone()
        other[is_open] = torch.where(number < count, places[:, number], index.x[is_open])
        ways.append(other)
    return ways


def is_near(every: torch.Tensor, radius: torch.Tensor, wanted: torch.Tensor, its: torch.Tensor) -> torch.Tensor:
    """Which numbers may be a wanted one."""
    away = (every - wanted).abs()
    found = (away <= radius + its) | (every == wanted) | ~(away < torch.inf) & (radius + its > 0)
    return found | every.isnan() & wanted.isnan()


def _numbers_before(low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """How many others of its row may be above a number, and are; and how many may be no less, and are."""
    least, most = (one.sort(-1).values.contiguous() for one in (low, high))
    count, low, high = low.shape[-1], low.contiguous(), high.contiguous()
    return (
        count - torch.searchsorted(most, low, right=True) - (high > low).long(),
        count - torch.searchsorted(least, high, right=True),
        count - torch.searchsorted(most, low) - 1,
        count - torch.searchsorted(least, high) - (low >= high).long(),
    )

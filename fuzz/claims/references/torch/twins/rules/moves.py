"""Operations that only move numbers, each with its radius, to places that have to be certain."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from kfuzz.claims.references.torch.twins.ranks import ways_of_places
from kfuzz.claims.references.torch.twins.rules.shared import gap
from kfuzz.claims.references.torch.twins.sets import NumberSet, StepResult, UnstableError, sets_in
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

NAMES = (
    "clone", "cat", "stack", "index", "index_select", "gather", "flip", "roll", "repeat", "expand_copy",
    "embedding", "_unsafe_view", "select_scatter", "slice_scatter", "select_backward", "tril",
    "triu", "diagonal_copy", "permute_copy", "lift_fresh_copy", "take", "diag_embed", "pixel_shuffle",
    "pixel_unshuffle", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "unfold_copy", "im2col", "view_copy", "_reshape_copy",
    "repeat_interleave",
    "split_copy", "unbind_copy", "_unsafe_index", "alias_copy", "slice_copy", "fill", "constant_pad_nd", "neg",
    "channel_shuffle", "rot90", "as_strided_copy", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
    "_reshape_alias_copy", "squeeze_copy", "unsqueeze_copy", "transpose_copy", "t_copy", "detach_copy", "block_diag",
    "diagonal_scatter", "as_strided_scatter", "_conj_physical", "conj_physical", "view_as_real_copy",
    "split_with_sizes_copy", "unsafe_split", "slice_backward", "diagonal_backward",
)  # fmt: skip
READ_BY_INDEX = ("index", "_unsafe_index", "index_select", "gather", "embedding", "take")
FILLED = ("constant_pad_nd", "fill")
"""Operations whose literal is a number that is put somewhere, and has no radius."""
OF_ONE = frozenset((
    "clone", "index", "index_select", "gather", "flip", "roll", "repeat", "expand_copy", "_unsafe_view", "permute_copy",
    "take", "view_copy", "_reshape_copy", "repeat_interleave", "_unsafe_index", "alias_copy", "slice_copy",
    "unfold_copy", "_reshape_alias_copy", "squeeze_copy", "unsqueeze_copy", "transpose_copy", "t_copy", "detach_copy",
))  # fmt: skip
"""Operations whose numbers are all those of their first operand."""


def move(run: Roundings, op: Operation) -> list[StepResult]:
    """Numbers at other places. Nothing is known of what an index that may be several picks."""
    by_index = op.name in READ_BY_INDEX
    indices = sets_in(list(op.args[1:])) if by_index else []
    loose = [one for one in indices if not one.is_exact]
    if any(one.x.dtype == torch.bool for one in loose):
        raise UnstableError("a mask that rounding may change decides how many numbers there are")
    x = op.values()
    if op.is_exact:
        return [StepResult(one) for one in x]
    fixed = {id(one) for one in indices}
    zeros = [
        0.0 if place and op.name in FILLED and type(one) in (int, float) else one for place, one in enumerate(op.args)
    ]
    bare = Operation(op.name, op.func, zeros, {k: 0.0 if k == "value" else v for k, v in op.kwargs.items()}, op.results)

    def radius(one: NumberSet) -> torch.Tensor:
        return one.x if id(one) in fixed else one.radius

    every = [one.abs().double() for one in bare.at(radius)]
    for one in loose:
        unknown = one.radius > 0
        if op.name in ("gather", "take"):
            every = [torch.where(unknown, torch.inf, r) for r in every]
        elif op.name == "embedding":
            every = [torch.where(unknown.unsqueeze(-1), torch.inf, r) for r in every]
        else:
            every = [torch.full_like(r, torch.inf) for r in every]
    for one in loose:
        every = narrowed_by_places(run, op, one, x, every)
    if op.name not in OF_ONE or (joint := op.args[0].joint) is None or loose:
        return [StepResult(one, r) for one, r in zip(x, every, strict=True)]
    numbered = replace(op.args[0], x=torch.arange(op.args[0].x.numel()).reshape(op.args[0].x.shape), r=None)
    elements = Operation(op.name, op.func, [numbered, *op.args[1:]], op.kwargs, op.results).values()
    return [StepResult(one, r, None, joint.at(at)) for one, r, at in zip(x, every, elements, strict=True)]


def narrowed_by_places(
    run: Roundings, op: Operation, index: NumberSet, x: Sequence[torch.Tensor], every: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """Radii of what an index picks: it is one of the places at which what was sought may lie."""
    others = [one for one in sets_in(list(op.args[1:])) if one is not index]
    tried = ways_of_places(index) if all(one.is_exact for one in others) else None
    if tried is None:
        return list(every)
    r = [torch.zeros(one.shape, dtype=torch.float64) for one in every]
    for way in tried:

        def pick(one: NumberSet, part: torch.Tensor, way: torch.Tensor = way) -> torch.Tensor:
            return way if one is index else part

        try:
            made = op.at(lambda one: pick(one, one.x))
            its = op.at(lambda one: pick(one, one.x if one in others else one.radius))
        except (IndexError, RuntimeError):  # the numbers are fewer than the places
            return list(every)
        r = [torch.maximum(old, gap(a, b) + c) for old, a, b, c in zip(r, made, x, its, strict=True)]
    run.note_jump()
    return r


RULES = dict.fromkeys(NAMES, move)

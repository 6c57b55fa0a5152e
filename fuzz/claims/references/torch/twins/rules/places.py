"""Places: where the largest numbers are, and what lies there. Another place is right if it comes as near."""

from dataclasses import replace

import torch

from kfuzz.claims.references.torch.twins.ranks import is_near, ranks_of, ranks_of_extremes
from kfuzz.claims.references.torch.twins.rules.shared import at_corners, gap
from kfuzz.claims.references.torch.twins.sets import NumberSet, Ranked, StepResult
from kfuzz.claims.references.torch.twins.table import Operation, Roundings


def _unknown(near: torch.Tensor) -> torch.Tensor:
    return torch.where(near > 1, torch.inf, 0.0)


def near(a: NumberSet, wanted: torch.Tensor, its: torch.Tensor, axis: int) -> torch.Tensor:
    """How many numbers come as near as those that are wanted: the wanted ones by themselves count one."""
    every, radius = a.number.movedim(axis, -1), a.radius.movedim(axis, -1)
    made = []
    for one, r in zip(wanted.movedim(axis, -1).unbind(-1), its.movedim(axis, -1).unbind(-1), strict=True):
        made.append(is_near(every, radius, one.unsqueeze(-1), r.unsqueeze(-1)).sum(-1))
    return torch.stack(made, -1).movedim(-1, axis)


def ranked_in(a: NumberSet, wanted: NumberSet, axis: int, is_once: bool = False, is_first: bool = False) -> Ranked:
    """Places along an axis of numbers; `wanted` has that axis. A later write into the numbers does not change them."""

    def rows(part: torch.Tensor) -> torch.Tensor:
        made = part.movedim(axis, -1).reshape(-1, part.shape[axis])
        return made.clone() if a.writes else made

    row = torch.arange(a.x.numel() // max(a.x.shape[axis], 1))
    row = row.reshape([size for at, size in enumerate(a.x.shape) if at != axis % a.x.ndim]).unsqueeze(axis)
    element = torch.arange(wanted.x.numel()).reshape(wanted.x.shape)
    among = NumberSet(rows(a.number), rows(a.radius), a.dtype)
    return Ranked(among, row.expand(wanted.x.shape), wanted, element, is_once, is_first)


def as_shape(one: Ranked, like: torch.Tensor) -> Ranked:
    return one.at(torch.arange(like.numel()).reshape(like.shape))


def extreme(run: Roundings, op: Operation) -> list[StepResult]:
    """The largest or the least numbers, and with an axis their places."""
    if len(op.results) == 1:
        (made,) = at_corners(run, op)
        is_of_all = len(op.sets) == 1 and len(op.args) == 1
        return [replace(made, joint=ranks_of_extremes(op.args[0], [], op.name == "max", False) if is_of_all else None)]
    a, axis = op.args[0], op.option(1, "dim")
    keep = bool(op.option(2, "keepdim", False))
    best = torch.amax if op.name == "max" else torch.amin
    x, low, high = (
        best(one.double() if one.dtype == torch.bool else one, axis, keepdim=True) for one in (a.x, a.end(-1), a.end(1))
    )
    r = torch.maximum(gap(high, x), gap(low, x))
    many = near(a, x.double(), r, axis)
    sought = ranked_in(a, NumberSet(x.double(), r, a.dtype), axis, is_first=True)
    at = (a.number.argmax if op.name == "max" else a.number.argmin)(axis, keepdim=True)
    parts = (x, r, at, _unknown(many))
    if not keep and a.x.ndim:
        parts = tuple(one.squeeze(axis) for one in parts)
    ranks = ranks_of_extremes(a, [axis], op.name == "max", keep)
    return [
        StepResult(parts[0], parts[1], None, ranks),
        StepResult(parts[2], parts[3], None, as_shape(sought, parts[2])),
    ]


def place_of_extreme(run: Roundings, op: Operation) -> list[StepResult]:
    """argmax and argmin."""
    a, axis = op.args[0], op.option(1, "dim")
    if axis is None:
        a, axis = NumberSet(a.x.reshape(-1), None if a.r is None else a.r.reshape(-1), a.dtype), 0
    name = op.name.removeprefix("arg")
    both = [op.results[0], op.results[0]]
    made = extreme(run, Operation(name, op.func, [a, axis, op.results[0].ndim == a.x.ndim], {}, both))[1]
    shape = op.results[0].shape
    assert made.r is not None, "a place has a radius"
    assert isinstance(made.joint, Ranked), "and numbers among which it was sought"
    x = made.x.reshape(shape)
    return [StepResult(x, made.r.reshape(shape), None, as_shape(made.joint, x))]


def ranked(run: Roundings, op: Operation) -> list[StepResult]:
    """Numbers in order, and their places, which are known where no neighbour comes near."""
    a = op.args[0]
    at = next((number for number, one in enumerate(op.func._schema.arguments) if one.name == "dim"), 1)
    axis = int(op.option(at, "dim", -1))
    values, places = op.values()
    if a.x.ndim == 0:
        return [StepResult(values, a.r), StepResult(places)]
    low, high = (op.at(lambda one: one.end(sign))[0] for sign in (-1, 1))  # noqa: B023  used at once
    r = torch.maximum(gap(high, values), gap(low, values))
    is_single = values.ndim < a.x.ndim
    rank = _rank_of(op, axis, values)
    ranks = None if rank is None else ranks_of(a, [axis % a.x.ndim], rank, not is_single)
    one, its = (part.unsqueeze(axis) if is_single else part for part in (values.double(), r))
    many = near(a, one, its, axis)
    sought = ranked_in(a, NumberSet(one, its, a.dtype), axis, is_once=not is_single)
    return [
        StepResult(values, r, None, ranks),
        StepResult(places, _unknown(many.squeeze(axis) if is_single else many), None, as_shape(sought, places)),
    ]


def _rank_of(op: Operation, axis: int, values: torch.Tensor) -> torch.Tensor | None:
    """The ranks of the results along an axis; those of a top k that is not sorted are not known."""
    count = int(op.args[0].x.shape[axis])
    if op.name == "kthvalue":
        return torch.tensor(count - int(op.args[1]))
    place = torch.arange(values.shape[axis])
    if op.name == "topk" and not op.option(4, "sorted", True):
        return None
    if op.name == "topk":
        return place if op.option(3, "largest", True) else count - 1 - place
    is_descending = op.option([one.name for one in op.func._schema.arguments].index("descending"), "descending", False)
    return place if is_descending else count - 1 - place


def running_extreme(run: Roundings, op: Operation) -> list[StepResult]:
    """cummax and cummin: their places are known if all numbers are."""
    made = at_corners(run, op)
    r = made[0].r
    return [made[0], StepResult(made[1].x, None if r is None else torch.where(r > 0, torch.inf, 0.0))]


RULES = {
    "max": extreme, "min": extreme, "argmax": place_of_extreme, "argmin": place_of_extreme, "sort": ranked,
    "topk": ranked, "kthvalue": ranked, "cummax": running_extreme, "cummin": running_extreme,
}  # fmt: skip

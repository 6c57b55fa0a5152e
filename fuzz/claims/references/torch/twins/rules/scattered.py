"""Numbers written to places, or added there; the places have to be certain, unless it is one number for all."""

from typing import Any

import torch

from kfuzz.claims.references.torch.twins.rules.arithmetic import unknown_where_loose
from kfuzz.claims.references.torch.twins.rules.shared import finite, gap, holds, rounding
from kfuzz.claims.references.torch.twins.rules.truths import choose
from kfuzz.claims.references.torch.twins.sets import (
    MOST_SINGLE,
    TINY,
    UNITS,
    NumberSet,
    StepResult,
    UnstableError,
    has_few_bits,
    unknown_where,
    wide_type,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

MOST_SHORT = 2.0**16
BY_LIST = ("index_put", "_index_put_impl", "put", "_unsafe_index_put")


def put(run: Roundings, op: Operation) -> list[StepResult]:
    """Write or add numbers. Of several that are written to one place any may stay."""
    base, place = op.args[0], 2 if op.name in BY_LIST else 3
    names = [one.name for one in op.func._schema.arguments] if hasattr(op.func, "_schema") else []
    source = op.args[place] if len(op.args) > place else op.kwargs.get(names[place] if place < len(names) else "src")
    values = source if isinstance(source, NumberSet) else None
    reduce = op.option(4, "reduce") if op.name in ("scatter_reduce", "scatter", "index_reduce") else None
    adds = op.name in ("index_add", "scatter_add") or (op.name in BY_LIST and bool(op.option(3, "accumulate", False)))
    adds = adds or reduce in ("sum", "add")
    indices = [one for one in op.sets if one is not base and one is not values]
    if any(not one.is_exact for one in indices):
        if not adds and reduce is None and (made := put_somewhere(run, op, base, source)) is not None:
            return made
        raise UnstableError("rounding may change the places that numbers are written to")
    kind = wide_type(op.dtype)
    factors = {name: abs(one) for name, one in op.kwargs.items() if name == "alpha"}

    def at(first: torch.Tensor, second: Any, **named: Any) -> torch.Tensor:  # noqa: ANN401  a tensor or a number
        given = [first if one is base else second if one is source else _plain(one) for one in op.args]
        options = {name: second if one is source else _plain(one) for name, one in op.kwargs.items()}
        result: torch.Tensor = op.func(*given, **{**options, **named})
        return result

    x = at(base.x.to(kind), source if values is None else values.x.to(kind))
    if reduce not in (None, "sum", "add"):
        return _reduced(run, op, x, reduce)
    if op.dtype not in UNITS:
        held = x if kind == torch.bool else x.to(op.dtype).to(torch.int64)
        return (
            [StepResult(held)]
            if op.is_exact
            else unknown_where_loose(Operation(op.name, lambda *_, **__: held, op.args, op.kwargs, op.results))
        )
    r = None
    if not op.is_exact:
        r = at(base.radius, 0.0 if values is None else values.radius, **factors).double()
    many = counted(op, base, values)
    if not adds:
        is_same = values is None or (values.is_exact and bool((values.x == values.x.reshape(-1)[:1]).all()))
        several = torch.ones(x.shape) > 0 if many is None else many > 1
        return [StepResult(x, r if is_same else unknown_where(several, x, r))]
    assert many is not None, "what adds has indices"
    size = at(base.size, abs(float(source or 0.0)) if values is None else values.size, **factors).double()
    r = unknown_where(~size.isfinite() | (size >= MOST_SINGLE), x, r)
    more = (many + 1) * (max(run.fine, run.unit(op.dtype)) * finite(size) + TINY)
    short = all(one is None or bool(has_few_bits(one.number).all()) for one in (base, values)) and op.is_exact
    kept = (many == 0) | torch.tensor(short) & (size < MOST_SHORT) & holds(x, op.dtype)
    return [StepResult(x, r, rounding(run, x, op.dtype, more, kept))]


def put_somewhere(run: Roundings, op: Operation, base: NumberSet, source: Any) -> list[StepResult] | None:  # noqa: ANN401
    """One number written to places of which some are not known: there it is that number, or stays. None if it is none
    of the ways of which this is known.
    """
    value = source if isinstance(source, NumberSet) else NumberSet(torch.tensor(source), None, op.dtype)
    if value.x.numel() != 1:
        return None
    value = NumberSet(value.x.reshape(()), value.r if value.r is None else value.r.reshape(()), value.dtype)
    if op.name == "scatter":
        dim, index = op.args[1], op.args[2]
        places = torch.zeros(base.x.shape).scatter(dim, index.x, 1.0) > 0
        reached = [slice(0, size) for size in index.x.shape]
        reached[dim] = slice(None)
        is_open = torch.zeros(base.x.shape, dtype=torch.float64)
        is_open[tuple(reached)] = (index.radius > 0).any(dim, keepdim=True).double()
        mask = NumberSet(places, is_open, torch.bool)
    elif op.name in BY_LIST and isinstance(op.args[1], list) and len(op.args[1]) == 1:
        (given,) = op.args[1]
        if given.dtype != torch.bool:
            return None
        shape = (*given.x.shape, *[1] * (base.x.ndim - given.x.ndim))
        mask = NumberSet(given.x.reshape(shape), given.radius.reshape(shape), torch.bool)
    else:
        return None
    return choose(run, Operation("masked_fill", op.func, (base, mask, value), {}, op.results))


def _plain(one: Any) -> Any:  # noqa: ANN401  nested arguments
    if isinstance(one, NumberSet):
        return one.x
    return [_plain(part) for part in one] if isinstance(one, list | tuple) else one


def counted(op: Operation, base: NumberSet, values: NumberSet | None) -> torch.Tensor | None:
    """How many numbers come to each place; None if that is not known."""
    aten, zeros = torch.ops.aten, torch.zeros(base.x.shape, dtype=torch.float64)
    ones = torch.ones(() if values is None else values.x.shape, dtype=torch.float64)
    made = None
    if op.name in BY_LIST and op.name != "put":
        made = aten.index_put.default(zeros, _plain(op.args[1]), ones, True)
    elif op.name in ("index_add", "index_copy") and values is not None:
        made = aten.index_add.default(zeros, op.args[1], op.args[2].x, ones)
    elif op.name.startswith("scatter"):
        made = aten.scatter_add.default(
            zeros, op.args[1], op.args[2].x, torch.ones(op.args[2].x.shape, dtype=torch.float64)
        )
    return made


def _reduced(run: Roundings, op: Operation, x: torch.Tensor, reduce: str | None) -> list[StepResult]:
    """The largest or the least of what comes to a place; of products and means nothing is known but their value."""
    if op.is_exact and reduce in ("amax", "amin"):
        return [StepResult(x)]
    r = torch.zeros(x.shape, dtype=torch.float64)
    if reduce in ("amax", "amin"):
        for sign in (-1, 1):
            r = torch.maximum(r, gap(op.at(lambda one: one.end(sign) if one.is_float else one.x)[0], x))  # noqa: B023
        return [StepResult(x, r)]
    run.note_measured(op.name)
    size = op.at(lambda one: one.size if one.is_float else one.x)[0]
    wide = op.at(lambda one: one.size + one.radius if one.is_float else one.x)[0]
    count = max((one.x.shape[0] for one in op.sets if one.x.ndim), default=1)
    return [StepResult(x, wide - size, rounding(run, x, op.dtype, (count + 2) * run.fine * finite(size)))]


RULES = dict.fromkeys(
    (*BY_LIST, "index_add", "index_copy", "scatter_add", "scatter_reduce", "scatter", "index_fill"), put
)

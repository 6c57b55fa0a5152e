"""Products of matrices and convolutions: sums of products, in any order."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch

from kfuzz.claims.references.torch.twins.rules.shared import finite, holds, rounding
from kfuzz.claims.references.torch.twins.sets import (
    MOST_SINGLE,
    SINGLE,
    TINY,
    UNITS,
    NumberSet,
    StepResult,
    gamma,
    has_few_bits,
    unknown_where,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, StepRule


def bilinear(first: int, bias: int | None, count_terms: Callable[[Operation, NumberSet, NumberSet], int]) -> StepRule:
    """The rule of a sum of products of two operands, the second of which follows the first; `bias` is added."""

    def multiply_matrices(run: Roundings, op: Operation) -> list[StepResult]:
        a, b = op.args[first], op.args[first + 1]
        c = op.args[bias] if bias is not None and bias < len(op.args) else None
        if op.dtype not in UNITS:
            x = op.values()[0]
            kept = x.to(op.dtype).to(torch.int64)
            return [StepResult(kept, None if op.is_exact else torch.full(x.shape, torch.inf, dtype=torch.float64))]
        a, b = run.operands(a), run.operands(b)
        factors = {name: abs(one) for name, one in op.kwargs.items() if name in ("alpha", "beta")}

        def made(one: torch.Tensor, other: torch.Tensor, added: Any, **named: Any) -> torch.Tensor:  # noqa: ANN401
            given = [added if part is c and c is not None else part for part in op.args]
            given[first], given[first + 1] = one, other
            result: torch.Tensor = op.func(*given, **{**op.kwargs, **named})
            return result

        added = c.number if isinstance(c, NumberSet) else None
        nothing = None if added is None else torch.zeros_like(added)
        x = made(a.number, b.number, added)
        size = made(a.size, b.size, None if added is None else added.abs(), **factors)
        r = None
        if not (a.is_exact and b.is_exact and (not isinstance(c, NumberSet) or c.is_exact)):
            its = c.radius if isinstance(c, NumberSet) else None
            r = made(a.size, b.radius, its, **factors) + made(a.radius, b.size + b.radius, nothing, **factors)
        lost = ~(size < MOST_SINGLE)
        if bool(lost.any()) and r is None:  # an infinity among exact numbers stays one, and NaN stays NaN
            plain = made(finite(a.size), finite(b.size), None if added is None else finite(added.abs()), **factors)
            lost = lost & ~((x.isinf() | x.isnan()) & (plain < MOST_SINGLE))
        r = unknown_where(lost, x, r)
        count = count_terms(op, a, b)
        short = not x.is_complex() and r is None and bool(has_few_bits(a.number).all() and has_few_bits(b.number).all())
        kept = torch.tensor(short) & (size < 2.0**-16 / SINGLE) & holds(x, op.dtype)
        if isinstance(c, NumberSet) and short:
            kept = kept & torch.tensor(bool(has_few_bits(c.number).all()))
        wide = 4 if x.is_complex() else 1
        more = wide * gamma(count + 2, run.fine) * finite(size) + count * TINY
        return [StepResult(x, r, rounding(run, x, op.dtype, more, kept))]

    return multiply_matrices


def last_axis(op: Operation, a: NumberSet, b: NumberSet) -> int:
    return int(a.x.shape[-1])


def of_window(op: Operation, a: NumberSet, b: NumberSet) -> int:
    """The terms of a convolution: of a transposed one as many as its weights have beside the second axis."""
    return prod(map(int, b.x.shape)) // max(int(b.x.shape[1]), 1) if op.args[6] else int(b.x[0].numel())


def multiply_scaled(run: Roundings, op: Operation) -> list[StepResult]:
    """torch._scaled_mm: a product of narrow matrices, times the scales of both."""
    a, b, by_a, by_b = op.args[:4]
    scale = by_a.number * by_b.number
    x, size = (a.number @ b.number) * scale, (a.size @ b.size) * scale.abs()
    if len(op.args) > 4 and isinstance(op.args[4], NumberSet):
        x, size = x + op.args[4].number, size + op.args[4].size
    r = None if op.is_exact else torch.full(x.shape, torch.inf, dtype=torch.float64)
    return [StepResult(x, r, rounding(run, x, op.dtype, gamma(a.x.shape[1] + 6, run.fine) * size))]


RULES = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), bilinear(0, None, last_axis)),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), bilinear(1, 0, last_axis)),
    **dict.fromkeys(("convolution", "_convolution"), bilinear(0, 2, of_window)),
    "_scaled_mm": multiply_scaled,
}  # fmt: skip

"""Products of matrices and convolutions: sums of products, in any order."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch

from kfuzz.claims.references.torch.twins.eight_bits import Multiply, lost_in_sums
from kfuzz.claims.references.torch.twins.rules.shared import finite, holds, rounding, size_of
from kfuzz.claims.references.torch.twins.sets import (
    MOST_SINGLE,
    NOTHING,
    SINGLE,
    TINY,
    UNITS,
    NumberSet,
    StepResult,
    are_all_short,
    gamma,
    unknown_where,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, StepRule

CONVOLUTIONS = ("convolution", "_convolution")


def bilinear(first: int, bias: int | None, count_terms: Callable[[Operation, NumberSet, NumberSet], int]) -> StepRule:
    """The rule of a sum of products of two operands, the second of which follows the first; `bias` is added."""

    def multiply_matrices(run: Roundings, op: Operation) -> list[StepResult]:
        a, b = op.args[first], op.args[first + 1]
        c = op.args[bias] if bias is not None and bias < len(op.args) else None
        if op.dtype not in UNITS:
            x = op.values()[0]
            kept = x.to(op.dtype).to(torch.int64)
            return [StepResult(kept, None if op.is_exact else torch.full(x.shape, torch.inf, dtype=torch.float64))]
        a, b = run.operands(a, b)
        factors = {name: abs(one) for name, one in op.kwargs.items() if name in ("alpha", "beta")}

        def made(one: torch.Tensor, other: torch.Tensor, added: Any, **named: Any) -> torch.Tensor:  # noqa: ANN401
            given = [added if part is c and c is not None else part for part in op.args]
            given[first], given[first + 1] = one, other
            result: torch.Tensor = op.func(*given, **{**op.kwargs, **named})
            return result

        def reached(part: float, of_radii: bool) -> torch.Tensor:
            """A part of the sum of all sizes, and what the radii add to it: a product for each factor that has any."""
            its = None if added is None else NOTHING.expand(added.shape)
            if isinstance(c, NumberSet) and its is not None:
                its = part * c.size if c.r is None or not of_radii else part * c.size + c.r
            first = part * a.size if a.r is None or not of_radii else part * a.size + a.r
            if not of_radii or b.r is None:
                return made(first, b.size, its, **factors)
            wide = a.size if a.r is None else a.size + a.r
            rest = made(wide, b.r, None if its is None else torch.zeros_like(its), **factors)
            return rest if not part and a.r is None and its is None else rest + made(first, b.size, its, **factors)

        added = c.number if isinstance(c, NumberSet) else None
        x = made(a.number, b.number, added)
        count = count_terms(op, a, b)
        grows = (4 if x.is_complex() else 1) * gamma(count + 2, run.fine_in_product)
        stored = of_parts(run, op)
        grows += stored * is_transposed(op)
        is_exact = a.is_exact and b.is_exact and (not isinstance(c, NumberSet) or c.is_exact)
        axes = (-1, max(-2, -b.x.ndim)) if count_terms is last_axis else None
        its = None if added is None else torch.zeros_like(added)
        beside = lost_of_8_bits(run, (a, b), count, axes, lambda one, other: made(one, other, its, **factors))
        is_short = (
            is_exact and not (x.is_complex() or run.adds_8_bits) and all(map(are_all_short, (a.number, b.number)))
        )
        reach = a.known.reach * b.known.reach * count * factors.get("alpha", 1.0)
        reach += c.known.reach * factors.get("beta", 1.0) if isinstance(c, NumberSet) else 0.0
        most = count if a.is_undivided else 1  # exponentials of at most 1, whose sum is at most so much
        reach *= most
        if reach < MOST_SINGLE and not is_short:  # nothing is lost, so that both parts of the radius may be one sum
            more = reached(grows, True).add_(count * TINY + beside)
            return [StepResult(x, None, rounding(run, x, op.dtype, before_bias(more, stored, x, added)))]
        size = reached(1.0, False)
        r = None if is_exact else reached(0.0, True)
        lost = ~(most * size < MOST_SINGLE)
        if bool(lost.any()) and r is None:  # an infinity among exact numbers stays one, and NaN stays NaN
            plain = made(size_of(a), size_of(b), None if added is None else finite(added.abs()), **factors)
            lost = lost & ~((x.isinf() | x.isnan()) & (most * plain < MOST_SINGLE))
        r = unknown_where(lost, x, r)
        is_short = is_short and (not isinstance(c, NumberSet) or are_all_short(c.number))
        kept = (size < 2.0**-16 / SINGLE) & holds(x, op.dtype) if is_short else None
        more = before_bias(grows * finite(size) + count * TINY + beside, stored, x, added)
        return [StepResult(x, r, rounding(run, x, op.dtype, more, kept))]

    return multiply_matrices


def lost_of_8_bits(
    run: Roundings, pair: tuple[NumberSet, NumberSet], count: int, axes: tuple[int, int] | None, multiply: Multiply
) -> torch.Tensor:
    """What sums of products lose beside their roundings, in a run in which these may be of 8 bits."""
    if not run.adds_8_bits:
        return NOTHING
    a, b = (finite(one.size + one.radius) for one in pair)
    return lost_in_sums(a, b, count, axes, multiply)


def of_parts(run: Roundings, op: Operation) -> float:
    """What a convolution in a type of 16 bits loses of its parts: torch stores them so on some devices."""
    is_narrow = UNITS[op.dtype] > SINGLE
    return run.unit(op.dtype) if is_narrow and op.name in CONVOLUTIONS else 0.0


def is_transposed(op: Operation) -> bool:
    """Whether its parts are the products for each place of the window."""
    return op.name in CONVOLUTIONS and bool(op.args[6])


def before_bias(more: torch.Tensor, stored: float, x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """What is lost, and a part of what is there before the bias of each channel is added."""
    if not stored or bias is None:
        return more
    return more + stored * finite((x - bias.reshape(-1, *[1] * (x.ndim - 2))).abs())


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
    more = gamma(a.x.shape[1] + 6, run.fine) * size
    more = more + lost_of_8_bits(run, (a, b), a.x.shape[1], (-1, -2), torch.matmul) * scale.abs()
    return [StepResult(x, r, rounding(run, x, op.dtype, more))]


RULES = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), bilinear(0, None, last_axis)),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), bilinear(1, 0, last_axis)),
    **dict.fromkeys(CONVOLUTIONS, bilinear(0, 2, of_window)),
    "_scaled_mm": multiply_scaled,
}  # fmt: skip

"""What several families share: the rounding of a result, and the results at the corners of sets."""

from collections.abc import Callable, Iterator
from itertools import product

import torch

from kfuzz.claims.references.torch.twins.sets import LEAST, TINY, NumberSet, StepResult
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, StepRule

TRUTHS = (torch.tensor(False), torch.tensor(True))
MOST_CORNERS = 4
"""Operands with sets of which all corners are tried."""
RULES: dict[str, StepRule] = {}


def holds(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Which numbers a type has, as kernels compute in it."""
    return x.to({torch.float64: torch.float32, torch.complex128: torch.complex64}.get(dtype, dtype)).to(x.dtype) == x


def rounding(
    run: Roundings, x: torch.Tensor, dtype: torch.dtype, more: torch.Tensor | None = None,
    kept: torch.Tensor | None = None, part: float = 0.0,
) -> torch.Tensor:  # fmt: skip
    """What storing a result in a type may lose, and `more` by the way there, or a `part` of the result; nothing where
    it is `kept`. Of a result that is no number it says nothing.
    """
    error = x.abs().mul_(run.unit(dtype) + part).add_(LEAST.get(dtype, TINY))
    error = error + more if isinstance(more, torch.Tensor) else error
    return error if kept is None or is_nowhere(kept) else torch.where(kept, 0.0, error)


def finite(size: torch.Tensor) -> torch.Tensor:
    """Sizes, and 0 for what is none."""
    return size.nan_to_num(0, posinf=0)


def size_of(one: NumberSet) -> torch.Tensor:
    """The sizes of an operand's numbers, and 0 for what is none."""
    return one.size if one.known.is_finite else finite(one.size)


def certain(one: NumberSet) -> torch.Tensor:
    """Which numbers are exact."""
    return TRUTHS[one.r is None] if one.r is None or one.known.is_loose else one.r == 0


def is_nowhere(truth: torch.Tensor) -> bool:
    """Whether a truth is known to hold for no number, without a look at all of them."""
    return truth.ndim == 0 and not bool(truth)


def gap(one: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """How far a result is from another; infinitely where either is no number and they differ."""
    away = (one.double() - x.double() if not x.is_complex() else one - x).abs()
    if away.numel() and float(away.max()) < torch.inf:
        return away
    return torch.where((one == x) | one.isnan() & x.isnan(), 0.0, away).nan_to_num(torch.inf, posinf=torch.inf)


def corners(
    op: Operation, end: Callable[[NumberSet, int], torch.Tensor] = NumberSet.end
) -> Iterator[list[torch.Tensor]]:
    """The results at all corners of the operands' sets."""
    loose = [one for one in op.sets if not one.is_exact]
    for signs in product((-1, 1), repeat=len(loose)):
        sign_of = {id(one): sign for one, sign in zip(loose, signs, strict=True)}
        yield op.at(lambda one: end(one, sign_of[id(one)]) if id(one) in sign_of else one.x)  # noqa: B023  used at once


def at_corners(run: Roundings, op: Operation) -> list[StepResult]:
    """The results of an operation that rises or falls in each operand, and rounds nothing."""
    x = op.values()
    if op.is_exact:
        return [StepResult(one) for one in x]
    if sum(not one.is_exact for one in op.sets) > MOST_CORNERS:
        return [StepResult(one, torch.full(one.shape, torch.inf, dtype=torch.float64)) for one in x]
    r = [torch.zeros(one.shape, dtype=torch.float64) for one in x]
    for made in corners(op):
        r = [torch.maximum(old, gap(one, own)) for old, one, own in zip(r, made, x, strict=True)]
    return [StepResult(one, radius) for one, radius in zip(x, r, strict=True)]


def in_integers(one: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Integers as their type wraps them."""
    return one if like.dtype == torch.bool or like.is_floating_point() else one.to(like.dtype).to(torch.int64)


def of_integers(run: Roundings, op: Operation) -> list[StepResult]:
    """Integers of integers, as their type wraps them: exact, or at all corners of their sets."""
    made = []
    for one, like in zip(at_corners(run, op), op.results, strict=True):
        x = in_integers(one.x, like)
        r = one.r if one.r is None else torch.where((x != one.x) & (one.r > 0), torch.inf, one.r)
        made.append(StepResult(x, r))
    return made

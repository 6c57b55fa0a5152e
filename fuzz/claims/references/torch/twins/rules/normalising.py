"""Softmax and its kin, variances and norms."""

from math import expm1, prod

import torch

from kfuzz.claims.references.torch.twins.rules.shared import TRUTHS, finite, is_nowhere, rounding, size_of
from kfuzz.claims.references.torch.twins.sets import MOST_SINGLE, NumberSet, RowShares, StepResult, gamma, unknown_where
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, axes_in
from kfuzz.oracle.systems.exponents import COMMON, FAR_OFF

F = torch.nn.functional

UNITS_OF_EXP = 12
FAR_BELOW = 1100.0
"""An exponential of so much less is 0 in every type."""
NEAR = 2.0**-6
"""Logits that move by less are bounded by a series."""


def softmax(run: Roundings, op: Operation) -> list[StepResult]:
    """A softmax rises in its own logit and falls in all others. The rounding of an argument counts as one of the logit:
    the numerator and the sum share their exponentials.
    """
    axis = op.args[1]
    a = without_fallen(op.args[0], axis)
    x, t = torch.softmax(a.number, axis), argument_of(run, a, axis).mul_(run.fine)
    if op.name.startswith("_safe"):
        x = x.nan_to_num(0)
    masked = TRUTHS[False] if a.known.is_finite else (a.number == -torch.inf) & (a.radius == 0)
    t = t if a.r is None else t + a.r
    t = t if is_nowhere(masked) else torch.where(masked, 0.0, t)
    own = gamma(a.x.shape[axis] + UNITS_OF_EXP if a.x.ndim else 1 + UNITS_OF_EXP, run.fine)
    error = rounding(run, x, op.dtype, None, (x == 0) & masked if masked.ndim else None, own)
    c = 1 + (float(t.max()) if t.numel() else 0.0)
    if c < 1 + NEAR:
        r = moved_little(x, t, c, axis)
        r = r if a.known.is_finite else torch.where(x.isnan(), 0.0, r)
        rows = RowShares(axis, r.narrow(axis, 0, 1) + torch.inf) if r.numel() and r.ndim else None
        return [StepResult(x, r, error, rows)]
    r = torch.where(x.isnan(), 0.0, moved_far(x, a.number, t, masked, axis))
    unknown = (torch.where(masked, 0.0, a.radius).isinf() | a.number.isnan()).sum(axis, keepdim=True) > 0
    missed = expm1(own + COMMON) + torch.where(t.amax(axis, keepdim=True) > FAR_OFF, 0.0, torch.inf)
    r = unknown_where(unknown.expand(x.shape), x, r)
    return [StepResult(x, r, error, RowShares(axis, torch.where(unknown, torch.inf, missed)) if a.x.ndim else None)]


def without_fallen(a: NumberSet, axis: int) -> NumberSet:
    """Logits of which those are -infinity that may be so low as that, and are far below another of their row in every
    case: their shares are 0. Masks of the least number make such sums.
    """
    if a.top is None or not a.x.ndim:
        return a
    least = torch.where(a.radius.isfinite(), a.end(-1), -torch.inf).amax(axis, keepdim=True)
    fallen = a.radius.isinf() & (a.top < least - FAR_BELOW)
    if not bool(fallen.any()):
        return a
    return NumberSet(torch.where(fallen, -torch.inf, a.number), torch.where(fallen, 0.0, a.radius), a.dtype)


def argument_of(run: Roundings, a: NumberSet, axis: int) -> torch.Tensor:
    """By how many units of float32 the argument of each exponential may be off."""
    top = a.number.amax(axis, keepdim=True) if a.x.ndim else a.number
    return 2 * (size_of(a) + finite(top.abs())) if run.is_loose else finite(top - a.number)


def moved_little(x: torch.Tensor, t: torch.Tensor, c: float, axis: int) -> torch.Tensor:
    """How far a softmax moves with logits that move by t, where exp(t) - 1 <= c t: docs/numerics.md#twins."""
    xt = x * t
    total = xt.sum(axis, keepdim=True)
    return xt.mul_(c - 3).add_(t).add_(total).mul_(x).mul_(c / (1 - c * total))


def moved_far(x: torch.Tensor, a: torch.Tensor, t: torch.Tensor, masked: torch.Tensor, axis: int) -> torch.Tensor:
    """How far it moves whatever t is: a share is 1 / (1 + the sum of all others' exponentials over its own)."""
    a, t, x = (one.movedim(axis, -1) if one.ndim else one.reshape(1) for one in (a, t.expand(x.shape), x))
    a = a - a.amax(-1, keepdim=True)
    low, high = (1 / (1 + torch.exp(log_sum_of_others(a + sign * t) - (a - sign * t))) for sign in (1, -1))
    r = torch.maximum(high - x, x - low).clamp(max=1.0)
    return torch.where(masked.movedim(axis, -1), 0.0, r).movedim(-1, axis) if masked.ndim else r.movedim(-1, axis)


def log_sum_of_others(a: torch.Tensor) -> torch.Tensor:
    """For each number the logarithm of the sum of the exponentials of all others along the last axis."""

    def before(one: torch.Tensor) -> torch.Tensor:
        return F.pad(torch.logcumsumexp(one, -1)[..., :-1], (1, 0), value=-torch.inf)

    return torch.logaddexp(before(a), before(a.flip(-1)).flip(-1))


def log_softmax(run: Roundings, op: Operation) -> list[StepResult]:
    """A logarithm of a sum of exponentials, perhaps taken from each logit: it moves no more than its logits do."""
    a, is_sum = op.args[0], op.name == "logsumexp"
    axes = axes_in(op.args[1], a.x.ndim)
    x = op.at(lambda one: one.number)[0]
    keep = not is_sum or bool(op.option(2, "keepdim", False))
    count = prod(a.x.shape[axis] for axis in axes) if a.x.ndim else 1
    worst = a.radius.amax(axes, keepdim=keep) if a.x.ndim else a.radius
    r = None if a.is_exact else worst if is_sum else a.radius + worst
    top = finite(a.number.amax(axes, keepdim=keep).abs()) if a.x.ndim else a.size
    more = run.fine * (count + UNITS_OF_EXP + 2 * top)
    more = more if is_sum else torch.add(more, size_of(a), alpha=2 * run.fine)
    return [StepResult(x, r, rounding(run, x, op.dtype, more, None, run.unit(op.dtype)))]


def variance(run: Roundings, op: Operation) -> list[StepResult]:
    """A variance, a standard deviation, and the mean beside it; where any arrangement counts, from moments."""
    a, name = op.args[0], op.name
    axes = axes_in(op.option(1, "dim"), a.x.ndim)
    count = max(prod(a.x.shape[axis] for axis in axes), 1)
    correction = op.option(2, "correction")
    scale = count / max(count - (1 if correction is None else float(correction)), 1e-300)
    keep = op.results[0].ndim == a.x.ndim

    def mean(one: torch.Tensor, keepdim: bool = keep) -> torch.Tensor:
        return one.mean(axes, keepdim=keepdim)

    center = mean(a.number, True)
    away = (a.number - center).abs_()
    v = mean(away * away) * scale
    made = [v.sqrt() if name.startswith("std") else v, center.reshape(v.shape)][: len(op.results)]
    if scale > count:  # torch's own infinities and NaNs
        made = op.at(lambda one: one.number)
        v = made[0]
    x, r = made[0], None
    if a.r is not None:
        moved = a.radius + mean(a.radius, True)
        r = (2 * mean(away * moved) + mean(moved * moved)) * scale
    slack = gamma(count + 2, run.fine) * mean(a.size)
    lost = gamma(count + 6, run.fine) * v.abs()
    lost = lost + 2 * run.fine * scale * mean((a.size + center.abs()).mul_(away))
    lost = lost + slack * slack * scale
    if run.is_loose:
        lost = lost + gamma(count + 6, run.fine) * mean(a.number * a.number) * scale
    over = mean(a.number * a.number, keep) * count >= MOST_SINGLE
    if name.startswith("std"):
        r, lost = (
            None if one is None else torch.where(x > one.sqrt(), one / x.clamp(min=1e-300), one.sqrt())
            for one in (r, lost)
        )
    r = unknown_where(over | ~v.isfinite() & ~x.isnan(), x, r)
    results = [StepResult(x, r, rounding(run, x, op.dtype, lost))]
    for one in made[1:]:
        its = gamma(count + 2, run.fine) * mean(a.size)
        results.append(StepResult(one, None if a.is_exact else mean(a.radius), rounding(run, one, op.dtype, its)))
    return results


def norm(run: Roundings, op: Operation) -> list[StepResult]:
    """The norm of a vector, which moves no more than the norm of its operand's movement."""
    a, order = op.args[0], op.option(1, "ord", 2)
    x = op.at(lambda one: one.number)[0]
    axes = axes_in(op.option(2, "dim"), a.x.ndim)
    count = max(prod(a.x.shape[axis] for axis in axes), 1)
    if order not in (1, 2, float("inf")):
        return [StepResult(x, torch.full(x.shape, torch.inf, dtype=torch.float64))]
    r = None if a.is_exact else op.at(lambda one: one.radius.to(one.number.dtype))[0].abs()
    powers = {1: a.size, 2: a.size * a.size}.get(order)
    if powers is not None:
        total = powers.sum(axes, keepdim=x.ndim == a.x.ndim)
        r = unknown_where((total >= MOST_SINGLE) | ~total.isfinite(), x, r)
        low = (powers < 2.0**-126) & (powers > 0)
        r = unknown_where(low.any().expand(x.shape) & (total < 2.0**-100), x, r)
    units = 0.0 if order == float("inf") else gamma(count + 4, run.fine)
    kept = (x == 0) | torch.tensor(order == float("inf"))
    return [StepResult(x, r, rounding(run, x, op.dtype, units * finite(x), kept))]


RULES = {
    "_softmax": softmax, "_safe_softmax": softmax, "_log_softmax": log_softmax, "logsumexp": log_softmax,
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), variance), "linalg_vector_norm": norm,
}  # fmt: skip

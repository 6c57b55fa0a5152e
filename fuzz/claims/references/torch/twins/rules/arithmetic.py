"""Sums, products and quotients of two numbers, and absolute values."""

from typing import Any

import torch

from kfuzz.claims.references.torch.twins.factors import Product, join_factors
from kfuzz.claims.references.torch.twins.rules.shared import (
    TRUTHS,
    at_corners,
    certain,
    finite,
    gap,
    holds,
    is_nowhere,
    of_integers,
    rounding,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.sets import (
    MOST_SINGLE,
    NOTHING,
    SINGLE,
    UNITS,
    NumberSet,
    StepResult,
    has_few_bits,
    is_power_of_two,
    unknown_where,
)
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

MOST_DIVIDED = 2.0**11
"""A quotient of shorter numbers lies further from each integer than it errs: a 2^-20 / b against 2^-8 / b."""
LEAST_SCALED = 2.0**-100
"""A product with a power of two that is larger than this has lost no digit below the least numbers."""
DIVISION = 3.0
"""Roundings of a quotient: it may be the product with a rounded reciprocal."""


def pair(op: Operation) -> tuple[NumberSet, NumberSet]:
    """Both operands as sets."""

    def made(one: Any) -> NumberSet:  # noqa: ANN401  a set or a number of the text
        if isinstance(one, NumberSet):
            return one
        kind = torch.complex128 if isinstance(one, complex) else torch.float64
        return NumberSet(torch.tensor(one, dtype=kind), None, kind)

    return made(op.args[0]), made(op.args[1])


def times(one: NumberSet, r: torch.Tensor | None, own: bool = False) -> torch.Tensor:
    """A set's size times a radius, perhaps with its `own` radius, times a radius; 0 stays 0, whatever the size."""
    if r is None:
        return NOTHING
    size = one.size + one.r if own and one.r is not None else one.size
    return size * r if one.known.reach < MOST_SINGLE else torch.where(r == 0, 0.0, size * r)


def are_short(known: torch.Tensor, *every: torch.Tensor) -> torch.Tensor:
    """Where all numbers are known, and have so few bits that no order of a few steps rounds them."""
    for one in every:
        if is_nowhere(known) or one.is_complex():
            return TRUTHS[False]
        known = known & has_few_bits(one)
        known = known if bool(known.any()) else TRUTHS[False]
    return known


def scales(by: NumberSet, other: NumberSet, op: Operation) -> torch.Tensor:
    """Where a factor is a power of two or 0, so that no digit of the other number is lost."""
    if by.x.is_complex() or other.x.is_complex():
        return torch.tensor(False)
    is_power = certain(by)
    if not is_nowhere(is_power):
        is_power = is_power & is_power_of_two(by.number)
    if not bool(is_power.any()):
        return TRUTHS[False]
    is_tensor = UNITS.get(other.dtype, 1.0) >= UNITS[op.dtype] and other.x.ndim > 0
    fits = torch.tensor(True) if is_tensor else holds(other.number, op.dtype)
    is_far = (by.size * other.size >= LEAST_SCALED) | (by.number == 0) | (other.number == 0)
    return fits & is_power & is_far


def scaled_sum(by: float, a: torch.Tensor | None, of: float, b: torch.Tensor | None) -> torch.Tensor | None:
    """A sum of what there is of two radii, each of them scaled."""
    if a is None or b is None:
        by, a = (by, a) if b is None else (of, b)
        return a if a is None or by == 1 else by * a
    return torch.add(a if by == 1 else by * a, b, alpha=of)


def size_of_sum(by: float, a: NumberSet, of: float, b: NumberSet) -> torch.Tensor:
    """The sizes of two operands, scaled and added; 0 if the sum is none."""
    size = torch.add(by * a.size, b.size, alpha=of)
    return size if a.known.is_finite and b.known.is_finite else finite(size)


def add(run: Roundings, op: Operation) -> list[StepResult]:
    """a + alpha b: it rounds by the sizes of both, since a kernel may multiply a factor of both in before."""
    if op.dtype not in UNITS:
        return of_integers(run, op)
    a, b = pair(op)
    alpha = abs(float(op.option(2, "alpha", 1)))
    by, of = (alpha, 1.0) if op.name == "rsub" else (1.0, alpha)
    x = op.at(lambda one: one.number)[0]
    r = scaled_sum(by, a.r, of, b.r)
    kept = certain(a) & certain(b)
    if not is_nowhere(kept):
        kept = kept & ((a.number == 0) | (b.number == 0) | are_short(kept, a.number, b.number, x))
        kept = kept & holds(x, op.dtype) if bool(kept.any()) else TRUTHS[False]
    error = rounding(run, x, op.dtype, size_of_sum(run.fine * by, a, run.fine * of, b), kept)
    return [StepResult(x, r, error, top=top_of_sum(op, a, b))]


def top_of_sum(op: Operation, a: NumberSet, b: NumberSet) -> torch.Tensor | None:
    """What no value of a sum or of a difference lies above, where that is known of an operand."""
    if (a.top is None and b.top is None) or op.name == "rsub" or op.option(2, "alpha", 1) != 1:
        return None
    of_b = b.end(1) if op.name == "add" else -b.end(-1)
    return (a.end(1) + of_b).double().nan_to_num(torch.inf, torch.inf, -torch.inf)


def factors_of(a: NumberSet, b: NumberSet, op: Operation, is_quotient: bool = False) -> Product | None:
    """The factors of a product or of a quotient of real numbers."""
    if a.x.is_complex() or b.x.is_complex():
        return None
    return join_factors([(a.factor, False), (b.factor, is_quotient)], op.results[0])


def lost_in_other_orders(product: Product | None, x: torch.Tensor, r: torch.Tensor | None) -> torch.Tensor | None:
    """A radius that is infinite where a product of some of the factors is beyond the largest number: (up gate)
    sigmoid(gate) overflows where up (gate sigmoid(gate)) does not.
    """
    if product is None or product.bound(False) <= MOST_SINGLE:
        return r
    peak = product.peak(False)
    lost = (peak > MOST_SINGLE) & (peak < torch.inf)
    return unknown_where(lost & x.isfinite(), x, r) if bool(lost.any()) else r


def multiply(run: Roundings, op: Operation) -> list[StepResult]:
    """a b; a power of two, 0 and -1 round nothing."""
    if op.dtype not in UNITS:
        return of_integers(run, op)
    a, b = run.factors(*pair(op))
    x = a.number * b.number
    r = None if a.is_exact and b.is_exact else times(a, b.r, True) + times(b, a.r)
    kept = are_short(certain(a) & certain(b), a.number, b.number, x)
    kept = kept if is_nowhere(kept) else kept & holds(x, op.dtype)
    kept = kept | scales(a, b, op) | scales(b, a, op)
    product = factors_of(a, b, op)
    r = lost_in_other_orders(product, x, r)
    return [StepResult(x, r, rounding(run, x, op.dtype, None, kept, 3 * run.fine * x.is_complex()), product=product)]


def divide(run: Roundings, op: Operation) -> list[StepResult]:
    """a / b. Nothing is known where an infinity became a number: another arrangement gives NaN there."""
    if op.option(2, "rounding_mode") is not None:
        return _rounded_quotient(run, op)
    a, b = pair(op)
    x = op.at(lambda one: one.number)[0]
    r = None
    if not op.is_exact:
        room = b.size - b.radius
        r = torch.where(room > 0, (a.radius + torch.where(b.radius == 0, 0.0, x.abs() * b.radius)) / room, torch.inf)
        r = torch.where(certain(a) & certain(b), 0.0, r)
    kept = scales(b, a, op) & (b.number != 0) | ((x == 0) & (a.number == 0) & certain(a))
    error = rounding(run, x, op.dtype, None, kept, DIVISION * run.fine)
    product = factors_of(a, b, op, is_quotient=True)
    if a.product is not None or b.product is not None:  # of two numbers there is one order alone
        r = lost_in_other_orders(product, x, r)
    return [StepResult(x, lost_infinities(b, x, r), error, product=product)]


def _rounded_quotient(run: Roundings, op: Operation) -> list[StepResult]:
    """A quotient that is rounded to an integer: at both ends of the quotient."""
    a, b = pair(op)
    if op.dtype not in UNITS:
        return of_integers(run, op) if b.is_exact else unknown_where_loose(op)
    cut = torch.trunc if op.option(2, "rounding_mode") == "trunc" else torch.floor
    made = divide(run, Operation("div", torch.ops.aten.div.Tensor, [a, b], {}, op.results))[0]
    r = torch.zeros(()) if made.r is None else made.r
    r = r if made.error is None else r + finite(made.error)
    short = are_short(certain(a) & certain(b), a.number, b.number) & (a.size < MOST_DIVIDED)
    short = short & (cut(made.x) != made.x) & torch.tensor(UNITS[op.dtype] == SINGLE)
    r = torch.where(short, 0.0, r)
    x = cut(made.x)
    return [StepResult(x, torch.maximum(gap(cut(made.x + r), x), gap(cut(made.x - r), x)))]


def unknown_where_loose(op: Operation) -> list[StepResult]:
    """Exact results, of which nothing is known where an operand is a set."""
    made = []
    for x in op.values():
        r = torch.zeros(x.shape, dtype=torch.float64)
        for one in op.sets:
            if one.r is not None:
                unknown = torch.where(one.r > 0, torch.inf, 0.0)
                fits = len(unknown.shape) <= len(x.shape) and all(
                    a in (1, b) for a, b in zip(reversed(unknown.shape), reversed(x.shape), strict=False)
                )
                r = torch.maximum(r, unknown if fits else unknown.sum())
        made.append(StepResult(x, r))
    return made


def lost_infinities(a: NumberSet, x: torch.Tensor, r: torch.Tensor | None) -> torch.Tensor | None:
    """A radius that is infinite where an infinity became a number."""
    lost = a.number.isinf().expand(x.shape) & x.isfinite()
    return r if not bool(lost.any()) else torch.where(lost, torch.inf, torch.zeros_like(x.abs()) if r is None else r)


def remainder(run: Roundings, op: Operation) -> list[StepResult]:
    """What a division leaves: known where the quotient's integer part is."""
    a, b = pair(op)
    x = op.values()[0]
    is_float = op.dtype in UNITS
    lost = run.fine * finite(a.size) if is_float else torch.zeros(())
    known = certain(a) & certain(b)
    kept = are_short(known, a.number, b.number) if is_float else known
    cut = torch.trunc if op.name == "fmod" else torch.floor
    quotient, near = a.number / b.number, 2 * (a.radius + lost) / b.size
    same = (cut(quotient - near) == cut(quotient + near)) & certain(b)
    r = torch.where(kept, 0.0, torch.where(same, a.radius, torch.inf))
    return [StepResult(x, r, torch.where(kept, 0.0, lost) if is_float else None)]


def absolute(run: Roundings, op: Operation) -> list[StepResult]:
    a = op.args[0]
    error = 2 * run.fine * a.size if a.x.is_complex() else None
    return [StepResult(a.x.abs(), a.r, error)]


RULES = {
    "add": add, "sub": add, "rsub": add, "mul": multiply, "div": divide, "true_divide": divide,
    "floor_divide": _rounded_quotient, "remainder": remainder, "fmod": remainder, "abs": absolute, "sign": at_corners,
    "sgn": at_corners,
}  # fmt: skip

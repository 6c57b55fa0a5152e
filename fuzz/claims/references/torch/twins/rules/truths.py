"""Comparisons, truths and bits: a truth may be unknown, and then either of two numbers is taken."""

from dataclasses import replace

import torch

from kfuzz.claims.references.torch.twins.ranks import compare_with_rank
from kfuzz.claims.references.torch.twins.rules.arithmetic import pair, unknown_where_loose
from kfuzz.claims.references.torch.twins.rules.shared import corners, gap, in_integers, of_integers
from kfuzz.claims.references.torch.twins.sets import NumberSet, Ranked, StepResult, wide_type
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

LOGIC = ("logical_and", "logical_or", "logical_not", "logical_xor")
BITS = (
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "__and", "__or", "__xor", "__and__", "__or__",
    "__xor__",
)  # fmt: skip
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift", "__lshift", "__rshift", "__lshift__", "__rshift__")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def compare(run: Roundings, op: Operation) -> list[StepResult]:
    """A comparison, unknown where both sets meet. Nothing is known of what follows from an order with NaN: `x > 0` and
    `not x <= 0` are the same function of numbers alone, and a ReLU's gradient is either.
    """
    x = op.at(lambda one: one.number if one.is_float else one.x)[0]
    a, b = pair(op)
    r = a.radius + b.radius
    away = (a.number - b.number).abs()
    unknown = (((away <= r) | away.isnan() & (r > 0)) & (r > 0)).double()
    if bool(unknown.any()) and (truths := compare_with_rank(op.name, a, b)) is not None:
        unknown = torch.where(truths[0] | truths[1], 0.0, unknown)
    no_order = (a.number.isnan() | b.number.isnan()) & torch.tensor(op.name not in ("eq", "ne"))
    unknown = torch.where(no_order, torch.inf, unknown)
    return [StepResult(x, unknown if bool((unknown > 0).any()) else None)]


def classify(run: Roundings, op: Operation) -> list[StepResult]:
    """Whether a number is none, is infinite or negative: unknown where anything may be there."""
    a = op.args[0]
    x = op.at(lambda one: one.number)[0]
    unknown = a.radius.isinf() | (a.size <= a.radius) & (a.radius > 0) & torch.tensor(op.name == "signbit")
    return [StepResult(x, None if op.is_exact else unknown.double())]


def combine(run: Roundings, op: Operation) -> list[StepResult]:
    """Truths of truths; of bits only those of known integers are known."""
    x = op.values()[0]
    if op.is_exact:
        return [StepResult(in_integers(x, op.results[0]))]
    if op.results[0].dtype != torch.bool:
        return unknown_where_loose(op)
    r = torch.zeros(x.shape, dtype=torch.float64)
    for made in corners(op):
        r = torch.maximum(r, (made[0] != x).double())
    if op.name.startswith("logical") and any(one.x.dtype != torch.bool for one in op.sets):
        return unknown_where_loose(op)
    is_open = torch.stack([one.radius.isinf().expand(x.shape) for one in op.sets]).any(0)
    return [StepResult(x, torch.where((r > 0) & is_open, torch.inf, r))]


def choose(run: Roundings, op: Operation) -> list[StepResult]:
    """One of two numbers, or both where the truth is not known."""
    condition, yes, no = op.args if op.name == "where" else (op.args[1], op.args[2], op.args[0])
    kind = wide_type(op.dtype)

    def as_set(one: object) -> NumberSet:
        return one if isinstance(one, NumberSet) else NumberSet(torch.tensor(one), None, op.dtype)

    yes, no = as_set(yes), as_set(no)
    truth = condition.x.bool()
    x = torch.where(truth, yes.x.to(kind), no.x.to(kind))
    if op.is_exact:
        return [StepResult(x)]
    r = torch.where(truth, yes.radius, no.radius)
    unknown = condition.radius > 0
    if bool(unknown.any()):
        other, its = torch.where(truth, no.x.to(kind), yes.x.to(kind)), torch.where(truth, no.radius, yes.radius)
        r = torch.where(unknown, torch.maximum(r, gap(other, x) + its), r)
        r = torch.where(condition.radius.isinf(), torch.inf, r)
    return [StepResult(x, r, None, places_in_part(truth, unknown, yes, no, x))]


def places_in_part(
    truth: torch.Tensor, unknown: torch.Tensor, yes: NumberSet, no: NumberSet, x: torch.Tensor
) -> Ranked | None:
    """Places, such as those of topk, where they are certainly chosen."""
    for one, chosen, other in ((yes, truth, no), (no, ~truth, yes)):
        if isinstance(one.joint, Ranked) and not isinstance(other.joint, Ranked):
            elements = torch.arange(one.x.numel()).reshape(one.x.shape).expand(x.shape)
            joint = one.joint.at(elements)
            return replace(joint, row=torch.where(chosen & ~unknown, joint.row, -1))
    return None


def over_all(run: Roundings, op: Operation) -> list[StepResult]:
    """Whether any is true, or all are."""
    x = op.values()[0]
    if op.is_exact:
        return [StepResult(x)]
    low = op.at(lambda one: one.x.bool() & (one.radius == 0))[0]
    high = op.at(lambda one: one.x.bool() | (one.radius > 0))[0]
    return [StepResult(x, (low != high).double())]


RULES = {
    **dict.fromkeys(COMPARISONS, compare), **dict.fromkeys(("isnan", "isinf", "isfinite", "signbit"), classify),
    **dict.fromkeys((*LOGIC, *BITS), combine), **dict.fromkeys((*SHIFTS, "gcd"), of_integers),
    "where": choose, "masked_fill": choose, "any": over_all, "all": over_all,
}  # fmt: skip

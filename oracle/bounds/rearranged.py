"""Whether some rearrangement of an op's formula may give the elements that lie outside its forms.

Knows the loosest bound and the op; no claim that names a form asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.by_slopes import bound_by_slopes
from kfuzz.oracle.numbers.elements import F32, F64, OF_DTYPE, Element, Reals, values
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Mask
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.numbers.verdict import Why
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.op.op import NamedReals, Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.systems.deepest import Deepest
from kfuzz.oracle.systems.loosest import Loosest

SILENT = (Why.ANYTHING, Why.NO_RULE)
"""Why forms say nothing of a mean of shares."""
SINGLE_SUMS = (F32.name, F64.name, "compensated")
"""The accumulators that round by u of float32 at most."""


def names_a_way(op: Op, claim: Accuracy) -> bool:
    """Whether a claim says how the op is computed, so that another way is not what it claims."""
    has_form = claim.form is not None and claim.form != "any"
    is_exact = op.has_grid or not all(role.is_float for role in op.outputs.values())
    is_ordered = any(one is not None for one in (claim.adds, claim.rescales, claim.order))
    return is_exact or has_form or is_ordered or bool(claim.rounds)


@dataclass(frozen=True)
class Loosened:
    """What any rearrangement may give: from `lo` to `hi`; and shares along an axis, whose sum is so near to one.

    `certain`: where that holds even if no form says anything. `anything`: where NaN and any number may come.
    """

    lo: Reals
    hi: Reals
    shares: tuple[int, Reals] | None = None
    certain: Mask | None = None
    anything: Mask | None = None

    def allows(self, got: Doubles) -> Mask:
        """Which elements some rearrangement may give. If shares do not make up one, none of them."""
        inside = (got >= self.lo) & (got <= self.hi)
        if self.shares is not None:
            axis, missing = self.shares
            inside &= np.abs(np.sum(got, axis=axis, keepdims=True) - 1) <= missing
        return np.asarray(inside if self.anything is None else inside | self.anything)

    @property
    def is_open(self) -> Mask:
        """Where any number may come in the place of another."""
        is_open = np.isneginf(self.lo) & np.isposinf(self.hi)
        return np.asarray(is_open if self.anything is None else is_open | self.anything)

    def united(self, other: "Loosened") -> "Loosened":
        """What either allows."""
        shares = None
        if self.shares is not None and other.shares is not None and self.shares[0] == other.shares[0]:
            shares = self.shares[0], np.maximum(self.shares[1], other.shares[1])
        certain = None if self.certain is None or other.certain is None else self.certain & other.certain
        return Loosened(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi), shares, certain)

    def narrow(self, enclosure: Enclosure, where: Mask) -> Enclosure:
        """What both allow, where this bound is certain; NaN is no number there, and every element is judged."""
        if self.certain is None:
            return enclosure
        where = where & self.certain & np.isfinite(self.lo) & np.isfinite(self.hi)
        within = np.where(where, self.lo, -np.inf), np.where(where, self.hi, np.inf)
        judged, may_be_nan, joint = enclosure.judged | where, enclosure.may_be_nan, enclosure.joint
        reasons = tuple(one for one in enclosure.reasons if one.why not in SILENT or not all_of(judged))
        return replace(
            enclosure, lo=np.maximum(enclosure.lo, within[0]), hi=np.minimum(enclosure.hi, within[1]), judged=judged,
            reasons=reasons, may_be_nan=None if may_be_nan is None else may_be_nan & ~where, within=within,
            within_by="loosest",
            joint=None if joint is None else lambda got: (one for one in joint(got) if not where[one.index]),
        )  # fmt: skip


def loosest_ends(
    op: Op, inputs: NamedReals, claim: Accuracy, scalars: Mapping[str, float | str], stored: Mapping[str, Element]
) -> dict[str, Loosened] | None:
    """What any rearrangement may give, for each output; None if no such bound is known."""
    given = [OF_DTYPE.get(a.dtype, F32) for n, a in inputs.items() if op.inputs[n].is_float]
    if F64 in given or {claim.accumulate, *claim.accumulators.values()} - {*SINGLE_SUMS}:
        return None
    sizes = op.sizes_of(inputs, scalars)
    numbers = {n: values(a) if op.inputs[n].is_float else a for n, a in inputs.items()}
    ends: dict[str, Loosened] = {}
    for form in op.forms_of(claim.form):
        N = Loosest(claim, sizes, F32, form, Places(sizes))
        try:
            with np.errstate(all="ignore"):
                made = op.run(N, numbers, sizes, op.scalars_of(sizes, scalars), op.derived_scalars(scalars))
                own = {name: N.ends(value, stored.get(name, F32)) for name, value in made.items()}
                shares = {name: N.missing(value, stored.get(name, F32)) for name, value in made.items()}
        except OracleError:  # the formula uses a word that has no such bound
            return None
        deep = None
        if names_of(op).is_deep and claim.shared != () and claim.denominator == "row":
            every = op.scalars_of(sizes, scalars), op.derived_scalars(scalars)
            deep = bound_by_slopes(op, form, claim, numbers, sizes, *every, system=Deepest)
        for name, (lo, hi) in own.items():
            if deep is not None and name in deep:
                least, most = (stored.get(name, F32).round(end) for end in (deep[name].lo, deep[name].hi))
                own[name] = np.maximum(lo, least), np.minimum(hi, most)
            low, high = (shape_output(end, op.outputs[name], sizes) for end in own[name])
            certain = N.certain(made[name])
            if certain is not None:
                certain = shape_output(certain, op.outputs[name], sizes)
            found = Loosened(low, high, shares[name] if low.ndim == made[name].x.ndim else None, certain)
            ends[name] = ends[name].united(found) if name in ends else found
    return ends

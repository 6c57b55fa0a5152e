"""Whether some rearrangement of an op's formula may give the elements that lie outside its forms.

Knows the loosest bound and the op; no claim that names a form asks.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.by_slopes import bound_by_slopes
from kfuzz.oracle.numbers.elements import F32, F64, OF_DTYPE, Element, Reals, values
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.op.op import NamedReals, Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.systems.deepest import Deepest
from kfuzz.oracle.systems.loosest import Loosest

SINGLE_SUMS = (F32.name, F64.name, "compensated")
"""The accumulators that round by u of float32 at most."""


def names_a_way(op: Op, claim: Accuracy) -> bool:
    """Whether a claim says how the op is computed, so that another way is not what it claims."""
    has_form = claim.form is not None and claim.form != "any"
    is_exact = op.has_grid or not all(role.is_float for role in op.outputs.values())
    is_ordered = any(one is not None for one in (claim.adds, claim.rescales, claim.order))
    return is_exact or has_form or is_ordered or bool(claim.rounds)


def loosest_ends(
    op: Op, inputs: NamedReals, claim: Accuracy, scalars: Mapping[str, float | str], stored: Mapping[str, Element]
) -> dict[str, tuple[Reals, Reals]] | None:
    """The least and the greatest answer of any rearrangement, for each output; None if no such bound is known."""
    given = [OF_DTYPE.get(a.dtype, F32) for n, a in inputs.items() if op.inputs[n].is_float]
    if F64 in given or {claim.accumulate, *claim.accumulators.values()} - {*SINGLE_SUMS}:
        return None
    sizes = op.sizes_of(inputs, scalars)
    numbers = {n: values(a) if op.inputs[n].is_float else a for n, a in inputs.items()}
    ends: dict[str, tuple[Reals, Reals]] = {}
    for form in op.forms_of(claim.form):
        N = Loosest(claim, sizes, F32, form, Places(sizes))
        try:
            with np.errstate(all="ignore"):
                made = op.run(N, numbers, sizes, op.scalars_of(sizes, scalars), op.derived_scalars(scalars))
                own = {name: N.ends(value, stored.get(name, F32)) for name, value in made.items()}
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
            before = ends.get(name, (low, high))
            ends[name] = np.minimum(low, before[0]), np.maximum(high, before[1])
    return ends

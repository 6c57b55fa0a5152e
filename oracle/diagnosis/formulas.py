"""What a wrong answer of a formula looks like."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kfuzz.oracle.diagnosis.mutated import explained
from kfuzz.oracle.enclosure import Doubles, Enclosure, Index, Mask
from kfuzz.oracle.op import Diagnosis


def diagnose(
    op: Any,  # noqa: ANN401  a FormulaOp, which asks this module
    inputs: Mapping[str, Any],
    output: str,
    got: Doubles,
    enclosure: Enclosure,
    wrong: Mask,
    worst: Index,
) -> Diagnosis:
    """One wrong step first, then patterns."""
    found = explained(op, inputs, output, got, enclosure, wrong)
    if found is not None:
        return found
    want = enclosure.want
    if np.isnan(want[worst]) and not np.isnan(got[worst]):
        return Diagnosis("number where NaN belongs", f"{got[worst]:g}")
    if not np.isfinite(got[worst]):
        return Diagnosis("not finite", f"{got[worst]:g} where {want[worst]:g} belongs")
    if (got[wrong] == 0).all():
        return Diagnosis("all zero" if (got == 0).all() else "zero elements", f"{int(wrong.sum())} elements are 0")
    return Diagnosis("wrong elements", f"{int(wrong.sum())} of {wrong.size} elements")

"""Describe the error in a wrong answer of a formula."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kfuzz.oracle.diagnosis.mutated import explain
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Index, Mask
from kfuzz.oracle.numbers.label import Diagnosis
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.op.op import Op


def diagnose(
    op: Op, inputs: Mapping[str, Any], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """The diagnosis: from the op's own file, or one wrong step of its formula, or a pattern."""
    if op.diagnose is not None:
        return op.diagnose(inputs, output, got, enclosure, wrong, worst)
    found = None if op.has_grid or op.axes else explain(op, inputs, output, got, enclosure, wrong)
    if found is not None:
        return found
    return describe_elements(got, enclosure, wrong, worst)


def describe_elements(got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index) -> Diagnosis:
    """What the wrong elements look like, where no step explains them."""
    want = enclosure.want
    if np.isnan(want[worst]) and not np.isnan(got[worst]):
        return Diagnosis("number where NaN belongs", f"{got[worst]:g}")
    if not np.isfinite(got[worst]):
        return Diagnosis("not finite", f"{got[worst]:g} where {want[worst]:g} belongs")
    if (got[wrong] == 0).all():
        return Diagnosis(
            "all zero" if (got == 0).all() else "zero elements", f"0 in {plural(int(wrong.sum()), 'element')}"
        )
    return Diagnosis("wrong elements", f"{int(wrong.sum())} of {plural(wrong.size, 'element')}")

"""Describe a wrong place, and a wrong value beside one: argmax and top_k."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kfuzz.oracle.diagnosis import sums
from kfuzz.oracle.numbers.elements import values
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Floats, Index, Mask
from kfuzz.oracle.numbers.label import Diagnosis
from kfuzz.oracle.numbers.plural import plural


def diagnose(
    inputs: Mapping[str, Floats], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """Compare the worst element with its own row of inputs."""
    x: Any = values(inputs["x"])
    if enclosure.holds is None:
        return sums.diagnose({"x": x}, sums.MAXIMUM, got, enclosure, wrong, worst)
    row, place, want = x[worst[0]], float(got[worst]), int(enclosure.want[worst])
    if not 0 <= place < len(row):
        return Diagnosis(
            "no place of the row", f"{place:g} where {want} belongs; the row has {plural(len(row), 'element')}"
        )
    found = int(place)
    if found in np.atleast_1d(got[worst[0]])[: worst[-1] if len(worst) > 1 else 0]:
        return Diagnosis("a place twice", f"{found} is named for two ranks")
    if row[found] == row[want] or (np.isnan(row[found]) and np.isnan(row[want])):
        said = f"x[{found}] and x[{want}] are both {row[want]:.9g}; the claim means {want}"
        return Diagnosis("another of equals", said)
    if np.isnan(row[want]):
        return Diagnosis("NaN passed over", f"x[{want}] is NaN, which belongs here; {found} is named")
    if np.isnan(row[found]):
        return Diagnosis("NaN taken", f"x[{found}] is NaN, which does not count; x[{want}] is {row[want]:.9g}")
    more = "less" if row[found] < row[want] else "greater"
    return Diagnosis(f"place of a {'smaller' if more == 'less' else 'greater'} element",
                     f"x[{found}] = {row[found]:.9g} is {more} than x[{want}] = {row[want]:.9g}")  # fmt: skip

"""Figures of an answer beside its verdict: the rows that were not judged, and its error in units in the last place.

Knows enclosures; no verdict depends on them.
"""

from collections.abc import Iterable

import numpy as np

from kfuzz.oracle.numbers.elements import F64, Element
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Mask
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.numbers.verdict import Verdict


def count_unjudged_rows(judged: Mask) -> int:
    """How many rows are not judged, where parts of rows add up; of an answer without rows, 0 or 1."""
    if all_of(judged):
        return 0
    left, of_row = int(np.count_nonzero(~judged)), judged[0].size if judged.ndim else 1
    return -(-left // of_row)


def error_in_ulps(got: Doubles, enclosure: Enclosure, element: Element | None) -> float | None:
    """The largest error of a judged finite element, in units in the last place of the largest exact answer of its row.

    An element near 0 among large ones, as where a mean is subtracted, has few digits in any kernel. None for integers
    and grids, whose numbers are exact, and for float64, in which the exact answer is worked out.
    """
    if element is None or not element.is_float or element.is_narrow or element.p >= F64.p:
        return None
    if enclosure.bits or enclosure.holds is not None or not got.size:
        return None
    rows = (len(got), -1) if got.ndim > 1 else (got.size, 1)
    want, judged = enclosure.want.reshape(rows), enclosure.judged.reshape(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(got.reshape(rows) - want)
        counts = judged & np.isfinite(off)
        largest = np.max(np.abs(want), axis=1, where=counts, initial=0.0)
        off = np.max(off, axis=1, where=counts, initial=0.0)[largest > 0]
        ulps = off / unit_of(largest[largest > 0], element)
    return float(np.max(ulps, initial=0.0))


def unit_of(numbers: Doubles, element: Element) -> Doubles:
    """A unit in the last place of each number."""
    exponents = np.frexp(numbers)[1]  # of a fraction in [1/2, 1)
    return np.asarray(np.ldexp(1.0, np.maximum(exponents, element.least + 1) - element.p))


def most_ulps(verdicts: Iterable[Verdict]) -> float | None:
    """The largest of these errors; None if none is known."""
    return max((one.ulps for one in verdicts if one.ulps is not None), default=None)

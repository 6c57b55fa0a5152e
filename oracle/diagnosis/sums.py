"""Describe the error in a wrong sum or maximum of a row: row_sum, row_max, max_sum and the merges."""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import U
from kfuzz.oracle.diagnosis.rebuilt import SPLITS
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Floats, Index, Mask
from kfuzz.oracle.numbers.label import Diagnosis

MAXIMUM = "m"
"""The output of a state that contains its maximum."""


def diagnose(
    inputs: Mapping[str, Floats], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """Compare the worst element with its own row of inputs."""
    y, want = float(got[worst]), float(enclosure.want[worst])
    terms = _terms(inputs, output, worst)
    if np.isnan(want):
        return Diagnosis("number where NaN belongs", f"{y:g}")
    if not np.isfinite(y):
        if np.isneginf(terms).any() and np.isnan(y):
            return Diagnosis("-inf minus -inf", "NaN in a row with -inf")
        return Diagnosis("not finite", f"{y:g} where {want:.9g} belongs")
    if output == MAXIMUM:
        return _diagnose_maximum(y, want, terms)
    if y == 0:
        return Diagnosis("all zero" if (got == 0).all() else "zero elements", f"0 where {want:.9g} belongs")
    others = np.delete(enclosure.want, worst[0]) if enclosure.want.ndim == 1 else np.empty(0)
    return _diagnose_sum(y, want, terms, others, float(enclosure.hi[worst] - enclosure.lo[worst]))


def diagnose_maximum(
    inputs: Mapping[str, Floats], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """The same for an op whose only output is a maximum, under any name."""
    return diagnose(inputs, MAXIMUM, got, enclosure, wrong, worst)


def _terms(inputs: Mapping[str, Floats], output: str, worst: Index) -> Doubles:
    """The terms that the worst element sums or compares."""
    values = {role: array.astype(np.float64) for role, array in inputs.items()}
    if "x" in values:
        row: Doubles = values["x"][worst[0]]
        if not len(row):
            return row
        return np.asarray(np.exp(row - row.max()) if output == "s" and np.isfinite(row.max()) else row)
    if "m" in values:
        maxima, sums = values["m"], values["s"]
    else:
        maxima = np.array([values["m1"][worst], values["m2"][worst]])
        sums = np.array([values["s1"][worst], values["s2"][worst]])
    if output == MAXIMUM or not np.isfinite(maxima.max()):
        return maxima
    sums = np.where(maxima == -np.inf, 0.0, sums)  # an empty state may have any sum
    return np.asarray(sums * np.exp(maxima - maxima.max()))


def _diagnose_maximum(y: float, want: float, terms: Doubles) -> Diagnosis:
    if abs(y) == float(np.finfo(np.float32).max):
        return Diagnosis("finite sentinel", f"{y:g} stands for -inf")
    if y > want:
        return Diagnosis("max starts too high", f"{y:g}, which no element reaches")
    held = np.flatnonzero(terms == y)
    if len(held):
        return Diagnosis("max of a part", f"element {int(held[0])} was taken; the maximum is at {int(terms.argmax())}")
    return Diagnosis("wrong max", f"{y:.9g} where {want:.9g} belongs")


def _diagnose_sum(y: float, want: float, terms: Doubles, others: Doubles, width: float) -> Diagnosis:
    close = width + 4 * U * abs(want)
    off = y - want
    if others.size and (np.abs(y - others) <= min(close, 8 * U * abs(y))).any():
        return Diagnosis("another row's sum", f"{y:.9g} is what another row adds up to")
    for times in range(2, 33):
        if want and abs(y - times * want) <= times * close:
            return Diagnosis(f"sum x{times}", f"the sum is {times} times too large", "sum multiplied")
    for sign, label in ((-1, "dropped element"), (1, "counted twice")):
        fits = np.flatnonzero(np.abs(off - sign * terms) <= close)
        if len(fits) and abs(off) > 2 * close:
            chosen = len(terms) - 1 if len(terms) - 1 in fits else int(fits[0])
            return Diagnosis(label, f"the sum is off by {sign} times element {chosen}")
    return _find_block(y, terms, close) or Diagnosis("wrong sum", f"off by {off:.9g}")


def _find_block(y: float, terms: Doubles, close: float) -> Diagnosis | None:
    """The sum of only one part of the row."""
    place = np.arange(len(terms))
    for width in (size for size in SPLITS if size < len(terms)):
        for words, group in ((f"a part of {width}", place // width), (f"every {width}th element", place % width)):
            if (np.abs(np.bincount(group, terms) - y) <= close).any():
                return Diagnosis("sum per block", f"{y:.9g} is the sum of {words} alone")
    return None

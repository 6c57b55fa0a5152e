"""Answers of softmax rebuilt with a defect: the diagnosis applies if the rebuilt answer equals the kernel's.

It knows defects of the subtracted shift and of the divisor, but no claims.
"""

from collections.abc import Iterator

import numpy as np

from kfuzz.oracle.accuracy.rounding import U
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.enclosure import Doubles, Floats
from kfuzz.oracle.numbers.label import Diagnosis

SPLITS = (32, 64, 128, 256, 512, 1024)
"""The shares of work (threads, or elements per tile) in which to look for a forgotten rescale or a separate sum."""

EXACT = 8.0 * U
"""The error of an exp of 2 ulp, a division and a short sum if the exponent is known to the bit."""

ROUNDED = 64.0 * U
"""The same with a longer sum, and exponents that are rounded."""

OFFSETS = (-1, 1, -2, 2, -4, 4, -8, 8, -32, 32)
NORMAL, LEAST = -87.0, 2.0**-100
"""Exponents whose exp is a normal float, and answers that are far from the denormals."""

DENORMAL = 2.0**-149
"""How far apart denormals are."""


@np.errstate(all="ignore")
def float32_softmax(row: Doubles, shift: float, ftz: bool) -> Doubles:
    """The row that float32 computes if this is subtracted, with its overflow and underflow."""
    t = (row - shift).astype(np.float32)
    e = np.exp(t.astype(np.float64)).astype(np.float32)
    e = np.where(e < F32.min_normal, np.float32(0), e) if ftz else e
    total = np.sum(e, dtype=np.float64).astype(np.float32)
    return np.asarray((e / total).astype(np.float64))


def class_of(y: Doubles) -> Doubles:
    """Per element: a number, an infinity of either sign, or NaN."""
    return np.where(np.isnan(y), 2.0, np.where(np.isinf(y), np.sign(y), 0.0))


def shifts(x: Floats, number: int) -> Iterator[tuple[float, str]]:
    """Values that may be subtracted by mistake, in words."""
    row = x[number].astype(np.float64)
    n = len(row)
    yield 0.0, "nothing, or a maximum that starts at 0"
    yield row[0], "the first element"
    yield row[-1], "the last element"
    if n > 1:
        yield row[:-1].max(), "the maximum without the last element"
        yield row[1:].max(), "the maximum without the first element"
    for width in (size for size in SPLITS if size < n):
        yield row[:width].max(), f"the maximum of the first {width}"
        yield row[: n - n % width or n - width].max(), f"the maximum without the last tile of {width}"
    for other in neighbours(len(x), number):
        yield float(x[other].max()), f"the maximum of row {other}"


def neighbours(rows: int, number: int) -> list[int]:
    """The rows that a wrong index may lead to."""
    near = [number + offset for offset in OFFSETS] + [0, rows - 1]
    return list(dict.fromkeys(row for row in near if 0 <= row < rows and row != number))


def fits_exactly(y: Doubles, row: Doubles, shift: float) -> bool:
    """Whether an answer is the one that float32 computes with this shift: the exponents are then known to the bit.

    An exp of 2 ulp errs by 2 denormals if its result is denormal, and a sum of such by as many for each term.
    """
    with np.errstate(all="ignore"):
        t = (row - shift).astype(np.float32).astype(np.float64)
        e = np.exp(t)
        pred = e / e.sum()
        known = (e > F32.min_normal / 2.0**20) & (pred > LEAST)
        ratio = np.log(y[known] / pred[known])
        lost = 2.5 * DENORMAL * (1 / e[known] + np.count_nonzero(e < F32.min_normal) / e.sum())
        may = EXACT + np.where(t[known].max(initial=-np.inf) < NORMAL, lost, 0.0)
    return bool(known.sum() > 1 and (y[known] > 0).all() and (np.abs(ratio) <= may).all())


def find_other_shift(x: Floats, number: int, y: Doubles) -> Diagnosis | None:
    """A value other than the maximum was subtracted, which shows in the rounding of the exponents."""
    row, top = x[number].astype(np.float64), float(x[number].max())
    if fits_exactly(y, row, top):
        return None
    for shift, words in shifts(x, number):
        if np.isfinite(shift) and shift != top and fits_exactly(y, row, shift):
            return Diagnosis("shift is not the maximum", f"{shift:g} was subtracted, {words}; the maximum is {top:g}")
    return None


def find_overflow(x: Floats, number: int, y: Doubles) -> Diagnosis | None:
    """A shift with which exps overflow, or all underflow, in just these elements."""
    row, top = x[number].astype(np.float64), float(x[number].max())
    for shift, words in shifts(x, number):
        if shift == top or not np.isfinite(shift):
            continue
        rebuilt = (float32_softmax(row, shift, ftz) for ftz in (False, True))
        if any(not np.isfinite(pred).all() and (class_of(pred) == class_of(y)).all() for pred in rebuilt):
            if shift > top:
                return Diagnosis("0/0", f"every exp underflowed: {shift:g} was subtracted, {words}, far above {top:g}")
            return Diagnosis("overflow", f"exp overflowed: {shift:g} was subtracted, {words}; the maximum is {top:g}")
    return None


def find_block_sums(y: Doubles, row: Doubles) -> Diagnosis | None:
    """Each block of the row was divided by its own sum."""
    n = len(row)
    place = np.arange(n)
    for width in (size for size in SPLITS if size < n):
        for words, group in ((f"of {width} elements", place // width), (f"every {width}th", place % width)):
            tops = np.full(int(group.max()) + 1, -np.inf)
            np.maximum.at(tops, group, row)
            with np.errstate(all="ignore"):
                e = np.exp(row - tops[group])
                pred = e / np.bincount(group, e)[group]
                known = pred > LEAST
                ratio = np.log(y[known] / pred[known])
            may = ROUNDED + 2 * (tops[group] - row)[known] * U
            if known.sum() > 1 and (y[known] > 0).all() and (np.abs(ratio) <= may).all():
                return Diagnosis("sum per block", f"each part, {words}, was divided by its own sum")
    return None


def find_other_rows_sum(x: Floats, number: int, factor: float, close: float) -> Diagnosis | None:
    """The row was divided by the sum of another one, relative to its own maximum or to the other's."""
    rows = x[[number, *neighbours(len(x), number)]].astype(np.float64)
    top = rows.max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        sums = np.exp(rows - top).sum(axis=1)
        for place, other in enumerate(neighbours(len(x), number), 1):
            lifted = np.exp(top[0, 0] - top[place, 0])
            for predicted in (sums[0] / sums[place], lifted * sums[0] / sums[place]):
                if abs(factor / predicted - 1) <= close:
                    return Diagnosis("another row's sum", f"it was divided by the sum of row {other}")
    return None

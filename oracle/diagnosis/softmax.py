"""Describe the error in a wrong softmax row. The first description that fits the numbers is the diagnosis.

All elements of a row share one denominator, so y_i / want_i distinguishes a wrong denominator (one factor for all) from
wrong elements (factors of their own).
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import U
from kfuzz.oracle.diagnosis import rebuilt
from kfuzz.oracle.numbers.elements import BF16, F16, F32
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Floats, Index, Mask, tree_sum
from kfuzz.oracle.numbers.label import Diagnosis
from kfuzz.oracle.numbers.plural import plural

SLIGHT = 64.0
"""An error of at most this many u is a rounding error."""

NEAR = 8.0
"""Within this distance of the maximum exp(x - max) is a normal float16, and every exp error is small."""


def diagnose_row(
    inputs: Mapping[str, Floats], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """The diagnosis of the worst row."""
    return diagnose(inputs["x"], got, enclosure, wrong, worst)


def diagnose(x: Floats, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index) -> Diagnosis:
    """The diagnosis of the worst element's row."""
    number = worst[0]
    row, y, want = x[number].astype(np.float64), got[number], enclosure.want[number]
    if np.isnan(want).all():
        return _diagnose_missing_nan(y)
    if not np.isfinite(y).all():
        return _diagnose_not_finite(x, number, y)
    if (want == 0).all():
        return Diagnosis("all -inf row not zero", f"element {worst[1]} is {y[worst[1]]:g}")
    if (y == 0).all():
        return Diagnosis("all zero", "every element is 0")
    if (y == row).all():
        return Diagnosis("copied input", "the output is the input")
    shift = rebuilt.find_other_shift(x, number, y)
    if shift is not None:
        return shift
    for tolerance, least in ((_exact, 8 * U), (_tolerance, 16 * U)):
        factor = _common_factor(row, y, want, tolerance)
        if factor is not None and abs(factor - 1) > least:
            return _diagnose_denominator(x, want, factor, enclosure, number)
    return rebuilt.find_block_sums(y, row) or _diagnose_elements(row, y, want, wrong[number])


def _diagnose_missing_nan(y: Doubles) -> Diagnosis:
    if np.isfinite(y).all() and np.allclose(y * len(y), 1, rtol=1e-3, atol=0):
        return Diagnosis("finite sentinel", "a row that should be NaN is uniform: a finite value stands for -inf")
    return Diagnosis(
        "number where NaN belongs", f"numbers in {int(np.isfinite(y).sum())} of {plural(len(y), 'element')}"
    )


def _diagnose_not_finite(x: Floats, number: int, y: Doubles) -> Diagnosis:
    row, bad = x[number].astype(np.float64), ~np.isfinite(y)
    with np.errstate(all="ignore"):
        of_nothing = np.exp(row - row.max()).astype(np.float32) / np.float32(0)
    if np.isposinf(y[row.argmax()]) and (rebuilt.class_of(of_nothing.astype(np.float64)) == rebuilt.class_of(y)).all():
        return Diagnosis("sum of 0", "the largest element is divided by 0: it is missing from the sum")
    leads = bool(np.isneginf(row[0]))
    found = None if leads and np.isnan(y).all() else rebuilt.find_overflow(x[number : number + 1], 0, y)
    if found is not None:
        return found
    if np.isneginf(row).any():  # tried before another row's maximum: it is the simpler mistake, and gives the same NaNs
        where = "leading" if leads else "masked"
        return Diagnosis(
            "-inf minus -inf", f"a row with {where} -inf has NaN or inf in {plural(int(bad.sum()), 'element')}"
        )
    detail = f"NaN or inf in {int(bad.sum())} of {plural(len(y), 'element')}"
    return rebuilt.find_overflow(x, number, y) or Diagnosis("not finite", detail)


def _tolerance(d: Doubles) -> Doubles:
    """Twice the error that an accurate exp, the exponent's rounding and a division may cause in one element."""
    return (16 + 2 * d) * 2 * U


def _exact(d: Doubles) -> Doubles:
    """The error that an exp of one ulp, the exponent's rounding and a division cause in one element."""
    return (3 + d) * U


def _common_factor(row: Doubles, y: Doubles, want: Doubles, tolerance: Callable[[Doubles], Doubles]) -> float | None:
    """The factor y / want that all elements share, if they do."""
    normal = want > 2.0**-100
    if not (y[normal] > 0).all() or (y[~normal] > 2.0**-90).any():
        return None
    ratio = np.log(y[normal] / want[normal])
    may = tolerance(row.max() - row[normal])
    low, high = (ratio - may).max(), (ratio + may).min()
    return float(np.exp((low + high) / 2)) if low <= high else None


def _diagnose_denominator(x: Floats, want: Doubles, factor: float, enclosure: Enclosure, number: int) -> Diagnosis:
    """The mistake in the sum that explains 1 / factor, the computed sum over the exact one."""
    largest = int(want.argmax())
    width = (enclosure.hi[number, largest] - enclosure.lo[number, largest]) / want[largest]
    most = min(float(width), 1e-3) + 16 * U
    row, excess = x[number].astype(np.float64), 1 / factor - 1
    for close in sorted({min(rebuilt.ROUNDED, most), most}):
        found = (
            _find_multiple(factor, close)
            or rebuilt.find_other_rows_sum(x, number, factor, close)
            or _find_single_element(want, excess, close)
            or _find_padding_or_rescale(row, want, excess, close)
        )
        if found is not None:
            return found
    return Diagnosis("denominator", f"the sum is off by a factor of {1 + excess:.9g}")


def _find_multiple(factor: float, close: float) -> Diagnosis | None:
    for times in range(2, 33):
        if abs(1 / factor / times - 1) <= close:
            return Diagnosis(f"denominator x{times}", f"the sum is {times} times too large", "denominator multiplied")
        if abs(factor / times - 1) <= close:
            return Diagnosis(f"denominator /{times}", f"the sum is {times} times too small", "denominator divided")
    return None


def _find_single_element(want: Doubles, excess: float, close: float) -> Diagnosis | None:
    """An element that is missing from the sum, or counted twice; none if some element would fit any excess."""
    room = close * (1 + abs(excess))
    for sign, label in ((-1, "dropped element"), (1, "counted twice")):
        fits = np.flatnonzero(np.abs(want - sign * excess) <= room)
        alike = np.count_nonzero((want > abs(excess) / 2) & (want < abs(excess) * 2))
        by_chance = alike * room / abs(excess)  # this many of them fit an unrelated excess by chance
        at_end = len(fits) and (0 in fits or len(want) - 1 in fits)
        is_one_value = len(fits) and np.ptp(want[fits]) <= 4 * U * want[fits].max()
        if len(fits) and abs(excess) > 2 * close and (at_end or is_one_value or by_chance < 1 / 4):
            return Diagnosis(label, f"the sum is off by {sign} times {_which(fits, len(want))}")
    return None


def _which(fits: NDArray[np.intp], n: int) -> str:
    """The element that fits, the last or first one where several do."""
    chosen = n - 1 if n - 1 in fits else int(fits[0])
    place = "the last element" if chosen == n - 1 else "the first element" if chosen == 0 else f"element {chosen}"
    return place if len(fits) == 1 else f"{place} ({len(fits)} elements are as large)"


def _find_padding_or_rescale(row: Doubles, want: Doubles, excess: float, close: float) -> Diagnosis | None:
    top = float(row.max())
    share = np.exp(-top) / tree_sum(np.exp(row - top)) if top > -700 else np.inf
    times = excess / share
    if 0.5 < times < 4096 and abs(times - round(times)) * share <= close and share > 8 * close:
        return Diagnosis("padding counted", f"the sum counts {plural(round(times), 'zero')} as elements")
    for width in rebuilt.SPLITS:
        for label, group in (("every", np.arange(len(row)) % width), ("tile of", np.arange(len(row)) // width)):
            if int(group.max()) == 0:
                continue
            tops = np.full(int(group.max()) + 1, -np.inf)
            np.maximum.at(tops, group, row)
            shares = np.bincount(group, want)
            with np.errstate(over="ignore", invalid="ignore"):
                missing = shares * np.expm1(top - tops)  # the amount that a partial sum adds if it is not scaled down
            if (np.abs(missing - excess) <= close * (1 + abs(excess))).any() and excess > 2 * close:
                return Diagnosis("missing rescale", f"one partial sum ({label} {width}) was not scaled to the maximum")
    return None


def _diagnose_elements(row: Doubles, y: Doubles, want: Doubles, wrong: Mask) -> Diagnosis:
    """The mistake in single elements that explains them."""
    index = np.flatnonzero(wrong) if wrong.any() else np.arange(len(y))
    if (y[index] == 0).all():
        if (want[index] < F32.min_normal).all():
            return Diagnosis("flush to zero", f"0 in place of {plural(len(index), 'denormal result')}")
        return Diagnosis("zero elements", f"0 in {len(index)} of {plural(len(y), 'element')}")
    if (y[index] == row[index]).all():
        return Diagnosis("copied input", f"the input's value in {plural(len(index), 'element')}")
    moved = _find_move(y, want, index)
    if moved is not None:
        return moved
    narrow = _find_narrow(row, y, want)
    if narrow is not None:
        return narrow
    base = _other_base(row, y, want)
    if base is not None:
        factor = f"exp(t) is off by a factor of exp({base:.2g} t): too few digits of log2(e)?"
        return Diagnosis("exp of another base", factor)
    slope = _fast_exp(row, y, want)
    if slope is not None and row[index].max() < row.max():  # no exp gets these wrong
        return Diagnosis("fast exp", f"the error grows by {slope:.2g} u per unit of distance: __expf")
    floor = y == y.min()
    if y.min() > 0 and len(np.unique(row[floor])) > 1 and row[floor].max() <= row[~floor].min(initial=np.inf):
        return Diagnosis("exponent clamped", f"{y.min():g} in {plural(int(floor.sum()), 'distant element')}")
    if (off := _largest_error(y[index], want[index])) <= SLIGHT:
        counted = f"off by up to {off:.3g} u = 2^-24: more roundings, or larger ones, than the claim counts"
        return Diagnosis("less accurate than claimed", counted)
    return Diagnosis("wrong elements", f"{len(index)} of {plural(len(y), 'element')}")


def _find_move(y: Doubles, want: Doubles, index: NDArray[np.intp]) -> Diagnosis | None:
    """Wrong elements that are right elsewhere in the row."""
    n = len(y)
    if _same(y[index], want[index]):
        return None
    for shift in (1, -1, 2, -2, 4, -4, 32, -32):
        source = index + shift
        inside = (source >= 0) & (source < n)
        if (
            inside.sum() > 1
            and _same(y[index[inside]], want[source[inside]])
            and len(np.unique(want[source[inside]])) > 1
        ):
            return Diagnosis("permuted", f"elements hold the answer of the element {shift:+d} away")
    if len(index) <= 64 and _same(np.sort(y[index]), np.sort(want[index])) and len(np.unique(want[index])) > 1:
        return Diagnosis("permuted", f"elements {', '.join(map(str, index[:8]))} hold each other's answers")
    return None


def _same(a: Doubles, b: Doubles) -> bool:
    return bool((np.abs(a - b) <= 2.0**-18 * np.abs(b) + 2.0**-140).all())


def _find_narrow(row: Doubles, y: Doubles, want: Doubles) -> Diagnosis | None:
    """Numerators that are float16 or bfloat16 values: relative to the largest, whose numerator is 1."""
    near = (row.max() - row < NEAR) & (row < row.max())
    if near.sum() < 2:
        return None
    top = row.argmax()
    for values, right in ((y[near] / y[top], want[near] / want[top]), (y[near], want[near])):
        for name, bits in ((BF16.name, BF16.p), ("fp16", F16.p)):
            mantissa, exponent = np.frexp(values)
            rounded = np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)
            is_narrow = (np.abs(values - rounded) <= 4 * U * values).all()
            if is_narrow and (np.abs(values - right) <= 2.0 ** (1 - bits) * right).all():
                return Diagnosis(f"{name} intermediate", f"the numerators have {bits} significant bits")
    return None


def _largest_error(y: Doubles, want: Doubles) -> float:
    """The largest relative error, in u; infinite where an element is not positive."""
    if not ((y > 0) & (want > 0)).all():
        return np.inf
    return float(np.abs(np.log(y / want)).max() / U)


def _errors(row: Doubles, y: Doubles, want: Doubles) -> tuple[Doubles, Doubles]:
    """For every normal element: its distance from the maximum, and its error relative to the maximum's own, in u."""
    normal, top = (want > 2.0**-100) & (y > 0), row.argmax()
    if not normal[top]:
        return np.empty(0), np.empty(0)
    return row[top] - row[normal], (np.log(y[normal] / want[normal]) - np.log(y[top] / want[top])) / U


def _other_base(row: Doubles, y: Doubles, want: Doubles) -> float | None:
    """The error in proportion to the distance, of one sign, if that explains all of it."""
    d, error = _errors(row, y, want)
    if len(np.unique(d)) < 3:
        return None
    slope = float(error[d.argmax()] / d.max())
    return -slope * U if abs(slope) > 4 and (np.abs(error - slope * d) <= 8 + 2 * d).all() else None


def _fast_exp(row: Doubles, y: Doubles, want: Doubles) -> float | None:
    """The growth of the error with the distance, if that explains the error."""
    d, error = _errors(row, y, want)
    if len(d) < 2 or d.max() < NEAR:
        return None
    error = np.abs(error)
    far = d > NEAR / 2
    slope = float((error[far] / d[far]).max())
    if error[far].max() < 6 + 2 * error[~far].max():
        return None
    return slope if slope < 3.5 and (error <= 12 + slope * d).all() else None

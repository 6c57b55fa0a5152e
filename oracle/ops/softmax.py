"""softmax: y_i = exp(x_i - max x) / sum_j exp(x_j - max x), row by row.

A row of nothing but -inf is NaN (or zero, where the claim says so); NaN and +inf make their whole row NaN.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial

import numpy as np
from flint import arb, ctx
from kfuzz.oracle import base_two
from kfuzz.oracle.algorithms import three_pass
from kfuzz.oracle.diagnosis import softmax as diagnosis
from kfuzz.oracle.enclosure import PRECISIONS, ROUND_64, Bounds, Clash, Doubles, Enclosure, Index, Mask
from kfuzz.oracle.exp_sum import BallSums, Sums, ball_distance, ball_lift, ball_sums, distances, lift, sums
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.op import Diagnosis, Floats
from kfuzz.oracle.rounding import DIVIDE_ROUNDINGS, FAR, Accuracy
from kfuzz.oracle.special import special_rows
from kfuzz.oracle.verdict import Special
from numpy.typing import NDArray

INPUTS = {"x": ("rows", "cols")}
OUTPUTS = {"y": ("rows", "cols")}
VECTOR = True


def define(N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]:
    """The exact definition, over any number system."""
    return {"y": three_pass(N, inputs["x"])}


def enclose(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]:
    """e_i / S_hi e^-mu_i - f <= y_i <= e_i / S_lo e^mu_i + f, where [S_lo, S_hi] encloses the computed sum.

    e_i: the exact numerator; mu_i: its rounding and the division's; f: what either loses by underflow.
    Derived in docs/numerics.md#softmax.
    """
    x = inputs["x"].astype(np.float64)
    rows = special_rows(x, special)
    want, lo, hi = (np.full(x.shape, np.nan) for _ in range(3))
    slack_lo, slack_hi = np.zeros(x.shape), np.zeros(x.shape)
    plain = rows.plain
    joint, reasons = None, rows.reasons
    judged = rows.judged.copy()
    exact = _ExactRows(x, accuracy)
    if plain.any():
        row = PlainRows(x[plain], accuracy)
        want[plain], lo[plain], hi[plain] = row.want, row.lo, row.hi
        slack_lo[plain], slack_hi[plain] = row.slack_lo, row.slack_hi
        joint = partial(clashes, row, exact, np.flatnonzero(plain)) if accuracy.denominator == "row" else None
        beyond = base_two.is_beyond(x[plain].max(axis=1), x[plain], accuracy)
        vanish, leave = row.may_vanish & ~beyond, row.may_leave & ~row.may_vanish & ~beyond
        judged[plain] &= ~(vanish | leave | beyond)
        reasons += base_two.reasons(beyond)
        if vanish.any():
            reasons += (f"{int(vanish.sum())} rows whose sum may underflow to 0",)
        if leave.any():
            reasons += (f"{int(leave.sum())} rows whose sum may be beyond what divide = '{accuracy.divide}' is for",)
    if special.all_neg_inf == "zero":
        for array in (want, lo, hi):
            array[rows.empty] = 0.0
    every = np.repeat(judged[:, None], x.shape[1], axis=1)
    return {"y": Enclosure(want, lo, hi, every, slack_lo, slack_hi, exact.bounds, joint, reasons)}


class PlainRows:
    """The enclosure of plain rows in float64.

    `e`: numerators, held at distance 104, beyond which only the upper bound stands (docs/numerics.md#a4); `grow`: e^mu;
    `f`: lost by underflow, per row. `may_vanish`: rows of which every exp may underflow, so that the answer may be
    0 / 0. `may_leave`: rows whose stored sum may be one that the division is not made for.
    """

    def __init__(self, x: Doubles, accuracy: Accuracy) -> None:
        row = sums(x, np.ones(x.shape), accuracy, first_exp=True)
        self.may_vanish = row.lo <= 0
        self.may_leave = leaves_division(row, accuracy)
        d = distances(row.top[:, None], x, accuracy)
        self.far = d > FAR
        near = np.minimum(d, FAR)
        self.e = np.exp(-near)
        reach = np.minimum(np.abs(x), FAR) if accuracy.shift == "zero" else near
        rounded = np.where(reach == 0, _roundings(accuracy, at_zero=True), _roundings(accuracy))
        self.grow = np.exp(rounded + _exponent(accuracy, reach, row.top[:, None], x))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            numerator = accuracy.eta0 * lift(row.top, accuracy) / row.lo * np.exp(_division(accuracy))
            self.f = (numerator + _last(accuracy))[:, None]
            self.hi = self.e / row.lo[:, None] * self.grow + self.f
        self.slack_hi = np.where(np.isfinite(self.hi), ROUND_64 * self.hi, 0.0)
        low = self.e / row.hi[:, None] / self.grow - self.f
        never = self.far | (low < -self.slack_hi)  # the lower bound is 0 itself, not a rounded number
        self.lo = np.where(never, 0.0, np.maximum(low, 0.0))
        self.slack_lo = np.where(never, 0.0, self.slack_hi)
        self.want = np.where(self.far, np.exp(-d), self.e) / row.total[:, None]


def leaves_division(row: Sums, accuracy: Accuracy) -> Mask:
    """The rows whose stored sum may lie outside [2^-126, 2^126], where only IEEE's division is what the claim says.

    1 / s is then denormal or infinite, and __fdividef gives 0. A sum that is sure to overflow is the kernel's own
    fault, and is judged. docs/numerics.md#division
    """
    if accuracy.divide == "ieee":
        return np.zeros(row.top.shape, dtype=np.bool_)
    g = accuracy.shift_slack + base_two.stray(row.top, accuracy)
    shifts = (row.top, row.top) if accuracy.shift == "zero" else (-g, g)
    with np.errstate(over="ignore", divide="ignore"):
        least, most = np.log(row.lo) + shifts[0], np.log(row.hi) + shifts[1]
    end, last = 126 * np.log(2.0), 128 * np.log(2.0)
    return np.asarray(((most > end) & ~(least > last)) | (least < -end))


def is_one_difference(top: Doubles, x: Doubles) -> Mask:
    """Whether max - x is a float32 number, so that subtracting rounds nothing."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = (top - x).astype(np.float32).astype(np.float64)
        return np.asarray((top - rounded == x) & (x + rounded == top))


def _exponent(accuracy: Accuracy, reach: Doubles, top: Doubles, x: Doubles) -> Doubles:
    """What the log of the numerator errs by with its exponent: the exponent's one rounding, and exp's own share.

    x - max is rounded to within half a unit in its last place, which is u times the power of two at or below it,
    unless it is a float32 number itself. docs/numerics.md#exponent
    """
    reach = reach + accuracy.shift_slack + base_two.stray(top, accuracy)
    if accuracy.exp.base_two:
        steep = 1 + base_two.LOG2_E + accuracy.exp.kappa
        return np.asarray((steep * reach + base_two.own(top, x, accuracy)) * accuracy.ubar)
    mantissa, power = np.frexp(reach)
    rounds = accuracy.shift != "zero" and not accuracy.exact_shift
    is_rounded = (mantissa > 0) & rounds & ~(is_one_difference(top, x) & accuracy.shift_is_exact)
    rounding = np.where(is_rounded, np.ldexp(1.0, power - 1), 0.0)
    return np.asarray((rounding + accuracy.exp.kappa * reach) * accuracy.ubar)


def _roundings(accuracy: Accuracy, at_zero: bool = False) -> float:
    """The rest of it: exp's own error and the division's. exp(0) is exactly 1 where the exponent is known.

    docs/numerics.md#a3
    """
    is_one = at_zero and accuracy.shift_slack == 0 and not accuracy.exp.base_two
    a0 = 0.0 if is_one else accuracy.exp.a0
    return a0 * accuracy.ubar + _division(accuracy)


def _division(accuracy: Accuracy) -> float:
    """What the division errs by (docs/numerics.md#division)."""
    return DIVIDE_ROUNDINGS[accuracy.divide] * accuracy.ubar


def _last(accuracy: Accuracy) -> float:
    """What the division loses where its result is denormal."""
    return accuracy.tiny if accuracy.ftz else DIVIDE_ROUNDINGS[accuracy.divide] * accuracy.tiny


class _ExactRows:
    """The enclosure of single elements by balls; each row's sums are computed once a precision."""

    def __init__(self, x: Doubles, accuracy: Accuracy) -> None:
        self.x, self.accuracy = x, accuracy
        self.row = lru_cache(maxsize=8)(self._row)

    def _row(self, row: int, bits: int) -> BallSums:
        return ball_sums(self.x[row], np.ones(self.x.shape[1]), self.accuracy, True, bits)

    def bounds(self, index: Index, bits: int) -> Bounds:
        """Called under `bits` of working precision, as is all below."""
        row = self.row(index[0], bits)
        e, grow, f, far = self._parts(index, row)
        masked = np.isneginf(self.x[index])
        exact = arb(0) if masked else (-ball_distance(row.top, self.x[index], self.accuracy)).exp()
        lo = arb(0) if far else (e / row.hi / grow - f).max(arb(0))
        return Bounds(lo, exact / row.total, e / row.lo * grow + f)

    def _parts(self, index: Index, row: BallSums) -> tuple[arb, arb, arb, bool]:
        a, d = self.accuracy, arb(FAR)
        far = bool(np.isneginf(self.x[index]))
        if not far:
            d = ball_distance(row.top, self.x[index], a)
            far = bool(d > FAR)
            d = d.min(arb(FAR))
        near = FAR if far else float(row.top - self.x[index])
        reach = min(abs(float(self.x[index])), FAR) if a.shift == "zero" else near
        top, x = np.asarray(row.top), np.asarray(self.x[index])
        exponent = arb(float(_exponent(a, np.asarray(reach), top, x))) * (1 + arb(2.0**-50))
        grow = (arb(_roundings(a, at_zero=reach == 0)) + exponent).exp()
        f = arb(a.eta0) * ball_lift(row.top, a) / row.lo * arb(_division(a)).exp() + arb(_last(a))
        return (-d).exp(), grow, f, far

    def clash(self, above: float, below: float, high: Index, low: Index) -> bool:
        """True when no sum fits both elements."""
        with ctx.workprec(PRECISIONS[0]):
            row = self.row(high[0], PRECISIONS[0])
            e, grow, f, _ = self._parts(high, row)
            e2, grow2, f2, far = self._parts(low, row)
            return not far and bool((arb(float(above)) - f) / (e * grow) > (arb(float(below)) + f2) / (e2 / grow2))


def clashes(row: PlainRows, exact: _ExactRows, numbers: NDArray[np.intp], got: Doubles) -> Iterator[Clash]:
    """The row-factor test: one stored sum divides a whole row, so one 1/sum must fit all of its elements.

    docs/numerics.md#row-factor
    """
    y = got[numbers]
    at_least, at_most = one_over_sum(row, y)
    with np.errstate(over="ignore", invalid="ignore"):
        excess = at_least.max(axis=1) / at_most.min(axis=1) - (1 + 4 * ROUND_64)
    for place in np.argsort(-excess):
        if excess[place] > 0:
            yield _clash_in(int(numbers[place]), y[place], at_least[place], at_most[place], exact)


def one_over_sum(row: PlainRows, y: Doubles) -> tuple[Doubles, Doubles]:
    """What each element alone says of 1/sum: (y_i - f) / (e_i e^mu_i) at least, (y_i + f) / (e_i e^-mu_i) at most."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (y - row.f) / (row.e * row.grow), np.where(row.far, np.inf, (y + row.f) / (row.e / row.grow))


def _clash_in(number: int, y: Doubles, at_least: Doubles, at_most: Doubles, exact: _ExactRows) -> Clash:
    """The clash of one row. What most of its elements agree on is the median of what each alone would say."""
    high, low = int(at_least.argmax()), int(at_most.argmin())
    known = np.isfinite(at_most) & (at_least > 0)
    agreed = float(np.median((at_least[known] + at_most[known]) / 2)) if known.any() else float(at_least[high])
    wrong = (at_least > agreed) | (at_most < agreed)
    worst = high if at_least[high] / agreed > agreed / at_most[low] else low
    message = f"elements {high} and {low} of row {number} cannot have been divided by the same sum"
    message += ', as denominator="row" claims'
    certified = partial(exact.clash, y[high], y[low], (number, high), (number, low))
    return Clash((number, worst), wrong, message, certified)


def diagnose(
    inputs: Mapping[str, Floats], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """What the error of the worst row looks like."""
    return diagnosis.diagnose(inputs["x"], got, enclosure, wrong, worst)

"""The enclosure of merged (max, sum) states, which max_sum, merge_all and safe_merge share.

Each row is a set of states that is joined into one. Knows no op.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from flint import arb

from kfuzz.oracle.accuracy.counts import count_roundings
from kfuzz.oracle.accuracy.rounding import FAR, Accuracy
from kfuzz.oracle.numbers.enclosure import FLT_MAX, ROUND_64, Bounds, Doubles, Enclosure, Index
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.verdict import Reason, Special, Why
from kfuzz.oracle.sets.special import special_rows
from kfuzz.oracle.systems import base_two
from kfuzz.oracle.systems.exp_sum import BallSums, enclose_sum_by_balls, enclose_sums
from kfuzz.oracle.systems.maximum import enclose_maximum


def enclose_states(
    m: Doubles, s: Doubles, accuracy: Accuracy, special: Special, first_exp: bool
) -> tuple[Enclosure, Enclosure]:
    """Enclose the joined max and sum of every row: the max is exact, the sum relative to it.

    With a shift g off the maximum, the max is off by g and the sum by a factor e^g, either way. A sum that may
    overflow, in the end or on its way, is not judged. docs/numerics.md#states
    """
    if accuracy.shift == "zero":
        raise OracleError("shift='zero': a (max, sum) state is relative to its maximum; only softmax may leave it out")
    rows = special_rows(m, special)
    odd = ((m > -np.inf) & ~((s > 0) & (s < np.inf))).any(axis=-1)
    plain = rows.plain & ~odd
    with np.errstate(invalid="ignore"):
        top = np.fmax.reduce(m, axis=-1) if m.shape[-1] else np.full(m.shape[:-1], -np.inf)
    nan_in_max = rows.has_nan & (special.nan != "ignore")
    top = np.where(nan_in_max | (rows.has_pos_inf & (special.pos_inf == "row")), np.nan, top)
    want, lo, hi = (np.full(plain.shape, np.nan) for _ in range(3))
    g = accuracy.shift_slack
    if plain.any():
        row = enclose_sums(m[plain], s[plain], accuracy, first_exp)
        off = np.exp(g + base_two.stray(row.top, accuracy))
        want[plain], lo[plain], hi[plain] = row.total, row.lo / off, row.hi * off
    beyond = plain & base_two.is_beyond(np.where(plain, top, 0.0), m, accuracy)
    overflow = plain & (np.fmax(hi, largest_partial(m, s, accuracy, first_exp)) >= FLT_MAX)
    judged_s = rows.judged & ~rows.empty & ~overflow & ~odd & ~beyond
    reasons = rows.reasons + base_two.reasons(beyond)
    if odd.any():
        reasons += (Reason(Why.ODD_STATE, int(odd.sum())),)
    if rows.empty.any():
        reasons += (Reason(Why.EMPTY_STATES, int(rows.empty.sum())),)
    if overflow.any():
        reasons += (Reason(Why.SUM_OVERFLOWS, int(overflow.sum())),)
    exact = _ExactStates(m, s, accuracy, first_exp)
    slack = np.where(plain, ROUND_64 * hi, 0.0)
    maxima = enclose_maximum(m, top, rows.judged, rows.reasons, accuracy.ftz, g)
    return maxima, Enclosure(want, lo, hi, judged_s, slack, slack, exact.total, None, reasons)


def largest_partial(m: Doubles, s: Doubles, accuracy: Accuracy, first_exp: bool) -> Doubles:
    """The largest value of a partial sum: states may be joined in any order, with the greatest maximum last."""
    count = count_roundings(replace(accuracy, shift="any"), m.shape[-1], m, first_exp)  # "running max" counts no more
    growth, g = float(np.max(count.growth(accuracy), initial=0.0)), accuracy.shift_slack
    exponents = np.asarray((1 + accuracy.exp.kappa) * (FAR + g))
    if accuracy.exp.base_two:
        size = np.where(np.isfinite(m), np.abs(m), 0.0).max(axis=-1, initial=0.0)
        exponents = exponents + 3 * FAR + (2 + 2 * float(np.max(count.rescales, initial=0.0))) * size
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(s.sum(axis=-1) * np.exp((growth + exponents) * accuracy.ubar + g))


class _ExactStates:
    def __init__(self, m: Doubles, s: Doubles, accuracy: Accuracy, first_exp: bool) -> None:
        self.m, self.s, self.accuracy, self.first_exp = m, s, accuracy, first_exp
        self.row = lru_cache(maxsize=8)(self._row)

    def _row(self, index: Index, bits: int) -> BallSums:
        return enclose_sum_by_balls(self.m[index], self.s[index], self.accuracy, self.first_exp, bits)

    def total(self, index: Index, bits: int) -> Bounds:
        row = self.row(index, bits)
        grow = arb(self.accuracy.shift_slack + float(base_two.stray(np.asarray(row.top), self.accuracy))).exp()
        return Bounds(row.lo / grow, row.total, row.hi * grow)

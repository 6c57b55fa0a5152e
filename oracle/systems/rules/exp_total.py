"""The sum of exponentials of the inputs themselves, by the counts of each term: docs/numerics.md#path."""

from dataclasses import replace

import numpy as np

from kfuzz.oracle.accuracy.rounding import NARROW_SUMS
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems import base_two, exp_sum
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import SUM_ROUND
from kfuzz.oracle.systems.rules.growth import growth
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, open_where
from kfuzz.oracle.systems.rules.partial import sum_may_overflow
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def exp_sum_of(N: BandSystem, e: Quantity, name: str, axis: int) -> Quantity | None:
    """The sum of exponentials of inputs, by the counts of `exp_sum`; None if a term is not an input."""
    terms = e.terms
    if not terms.is_direct or axis != -1 or e.how[:1] == ("kept",) or N.f is not F32:
        return None
    if N.claim.for_sum(name).accumulate in (*NARROW_SUMS, "mma"):
        return None
    x = np.asarray(terms.x.lo, dtype=np.float64)
    claim = N.claim.for_sum(name)
    shape = (*x.shape[:-1], 1)
    plain = terms.plain[..., 0]
    lo, hi = np.full(shape, INF), np.full(shape, -INF)
    if N.E.eps == 0.0:  # balls
        lo, hi = N.E.convert(lo), N.E.convert(hi)
        for place in np.argwhere(plain):
            index = tuple(place)
            balls = exp_sum.enclose_sum_by_balls(x[index], np.ones(x.shape[-1]), claim, True, 128)
            lo[(*index, 0)], hi[(*index, 0)] = balls.lo.lower(), balls.hi.upper()
    elif any_of(plain):
        rows = x.reshape(-1, x.shape[-1]) if all_of(plain) else x[plain]
        row = exp_sum.enclose_sums(rows, np.ones((1, x.shape[-1])), claim, first_exp=True)
        scale = np.where(row.is_exact, 0.0, SUM_ROUND)
        lo[plain, 0], hi[plain, 0] = row.lo * (1 - scale), row.hi * (1 + scale)
    beyond = np.zeros(shape, dtype=np.bool_)
    if claim.exp.base_two and any_of(plain):
        beyond[plain, 0] = base_two.is_beyond(x[plain].max(axis=-1), x[plain], claim)
        for reason in base_two.reasons(beyond):
            N.note(replace(reason, count=0), beyond)
        lo, hi = np.where(beyond, -INF, lo), np.where(beyond, INF, hi)
    grown = N.E.exp_above(growth(N, name, x.shape[-1], 0, True).most)
    over = plain[..., None] & ~beyond & sum_may_overflow(N, e, lo, grown, name, axis, N.f)
    if any_of(over):
        N.note(ORDER_DECIDES, over)
        lo, hi = np.where(over, -INF, lo), np.where(over, INF, hi)
    beyond = beyond | over
    vanish = plain[..., None] & np.asarray(lo <= 0, dtype=np.bool_) & ~beyond
    made = open_where(N, lo, hi, ~plain[..., None] | beyond, vanish, Reason(Why.SUM_UNDERFLOWS), "sum", e)
    made.name = name
    made.terms = e.terms
    return made

"""Weighted means: rule R11 of docs/formulas.md."""

from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import sum_pairwise
from kfuzz.oracle.systems.room import BALL_MEAN, OPERATIONS_4M, OPERATIONS_4096, ROUNDINGS_16384
from kfuzz.oracle.systems.rules.exponential import is_recomputed
from kfuzz.oracle.systems.rules.growth import accumulator, growth, is_mma, mma_sizes
from kfuzz.oracle.systems.rules.moments import NO_NUMBER, root_above
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, as_numbers, open_where
from kfuzz.oracle.systems.rules.partial import (
    largest_weights,
    products_may_overflow,
    sum_may_overflow,
    sum_must_overflow,
)
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def average(N: BandSystem, e: Quantity, v: Quantity, names: tuple[str, str]) -> Quantity:
    """R11: sum_j e_j v_j / sum_j e_j, with the same e in both sums, so that its errors count |v_j - o| and not |v_j|.

    With weights p, their errors r and R = sum r, the mean drifts by at most
    min(sqrt(sum r^2 / p) sqrt(sum p (v - o)^2), sum r |v - o|) / (1 - R).
    Precondition: v is an input, and e is the same in both sums. A kernel may divide first, and round p, or last (R8);
    e may be narrower in the product alone or in both sums (R9).
    """
    if not N.is_point(v) or (e.terms is not None and is_recomputed(N, e.terms.is_direct)):
        return _plain_average(N, e, v, names)
    n = e.shape[-1]
    narrow = e.how[2] if e.how[:1] == ("kept",) else None
    weights = e.how[1] if narrow else e
    name = e.name or "e"
    u_kept = narrow.u if narrow else 0.0
    del name
    odd_v = ~np.asarray(N.E.is_finite(v.lo) & ~np.asarray(v.nan), dtype=np.bool_).all(axis=-2, keepdims=True)
    with np.errstate(all="ignore"):
        odd_e = ~np.asarray(N.E.is_finite(weights.hi) & ~np.asarray(weights.nan), dtype=np.bool_).all(
            axis=-1, keepdims=True
        )
        must = np.asarray(weights.lo > weights.hi, dtype=np.bool_).any(axis=-1, keepdims=True)
        must = must | np.asarray((weights.hi <= 0).all(axis=-1, keepdims=True), dtype=np.bool_)
        lo, hi = (
            (np.where(odd_e, 0.0, end) for end in (weights.lo, weights.hi))
            if any_of(odd_e)
            else (weights.lo, weights.hi)
        )
        V = np.where(odd_v, 0.0, v.lo) if any_of(odd_v) else v.lo
        middle = (lo + hi) / 2
        s = sum_pairwise(middle)
        has_weight = np.asarray(s > 0, dtype=np.bool_)
        s = np.where(has_weight, s, 1.0)
        p, r = middle / s, np.maximum(hi - middle, middle - lo) / s * OPERATIONS_4096
        o, rad = _drift(N, p, r, V, n, names, e, u_kept, narrow)
        rad = np.where(has_weight, rad, INF)
        over = _may_overflow(N, e, p, V, names)
    lo, hi = o - rad, o + rad
    nan = np.broadcast_to(~has_weight, lo.shape)
    lo, hi = np.where(must, INF, lo), np.where(must, -INF, hi)
    open_ = (odd_v | odd_e) & ~must
    made = open_where(N, lo, hi, nan | must, open_, NO_NUMBER, "average", e, v)
    made = open_where(N, made.lo, made.hi, made.nan, over & ~open_, ORDER_DECIDES, "average", e, v)
    return N.widen(made.lo, made.hi, made.nan, _division(N), 2 * N.tiny, "average", e, v)


def _may_overflow(N: BandSystem, e: Quantity, p: Reals, V: Reals, names: tuple[str, str]) -> Reals:
    """Where a partial sum of e v, or of e, may overflow; a weight that is divided first is never rescaled."""
    n, first, size = e.shape[-1], N.form == "normalize first", np.abs(V)
    above, below = (growth(N, name, n, products, True) for name, products in zip(names, (1, 0), strict=True))
    grown = N.E.exp_above(above.most)
    weights = p if first else largest_weights(N, e, names[0])
    over = products_may_overflow(weights, size, grown, accumulator(N, names[0]))
    if above.is_cast:  # a sum in double may be cast before it is divided
        over = over | products_may_overflow(p if first else largest_weights(N, e, None), size, grown, N.f)
    least, grown = sum_pairwise(np.maximum(e.lo, 0.0)), N.E.exp_above(below.most)
    over = over & ~sum_must_overflow(N, e, least)
    return over | sum_may_overflow(N, e, least, grown, names[1], -1, accumulator(N, names[1]))


def _plain_average(N: BandSystem, e: Quantity, v: Quantity, names: tuple[str, str]) -> Quantity:
    """The union of both ways to divide, by the plain rules; a division that comes first rounds each weight."""
    s = N.sum(e, names[1])
    last, first = N.div(N.matmul(e, v, names[0]), s), N.matmul(N.div(e, s), v, names[0])
    if N.form in ("divide last", "normalize first"):
        return last if N.form == "divide last" else first
    return N.value(np.minimum(last.lo, first.lo), np.maximum(last.hi, first.hi), last.nan | first.nan)


def _division(N: BandSystem) -> float:
    return float(DIVIDE_ROUNDINGS[N.claim.divide])


def _drift(
    N: BandSystem,
    p: Reals,
    r: Reals,
    V: Reals,
    n: int,
    names: tuple[str, str],
    e: Quantity,
    u_kept: float,
    narrow: Any,  # noqa: ANN401
) -> tuple[Reals, Reals]:
    """The middle of the mean and its radius, before the division."""
    centre = np.sort(V, axis=-2)[..., n // 2 : n // 2 + 1, :] if n else V.sum(axis=-2, keepdims=True)
    W = V - centre
    o = p @ W
    size_v = np.abs(V)
    rounding = float(N.E.eps) * (n + 8) or BALL_MEAN
    spread = np.maximum(p @ (W * W) - o * o, 0.0) + rounding * (p @ (W * W))
    away = np.abs(W)
    above = growth(N, names[0], n, 1, True)
    below = growth(N, names[1], n, 0, True)
    k = _division(N) if N.form != "divide last" else 0.0
    cast = N.u * ROUNDINGS_16384
    extra = (
        N.u * ROUNDINGS_16384 * e.terms.reach()
        if e.terms is not None and (N.claim.for_sum(names[0]).rescales != 0 or N.claim.for_sum(names[1]).rescales != 0)
        else None
    )

    def drifted(radius: Reals) -> Reals:
        whole = sum_pairwise(radius)
        left = 1 - whole
        ratio = np.where(
            np.asarray(p > 0, dtype=np.bool_),
            radius * radius / np.where(np.asarray(p > 0, dtype=np.bool_), p, 1.0),
            0.0,
        )
        lone = np.where(np.asarray(p > 0, dtype=np.bool_), 0.0, radius)
        cauchy = root_above(N, sum_pairwise(ratio)) * root_above(N, spread)
        cauchy = cauchy + lone @ away + sum_pairwise(lone) * np.abs(o)
        plain = radius @ away + whole * np.abs(o)
        return np.where(
            np.asarray(left > 0, dtype=np.bool_),
            np.minimum(cauchy, plain) / np.where(np.asarray(left > 0, dtype=np.bool_), left, 1.0),
            INF,
        )

    if extra is not None:  # an online kernel has the same exponents in both sums, so they are part of e
        r = r + p * np.minimum(extra, 1.0) * ROUNDINGS_16384
    drift = drifted(r)
    numerator = N.E.exp_above(above.most + k * N.u) - 1
    left = 1 - sum_pairwise(r)
    weigh = (p + r) @ size_v
    size = np.where(
        np.asarray(left > 0, dtype=np.bool_), weigh / np.where(np.asarray(left > 0, dtype=np.bool_), left, 1.0), INF
    )
    own = drift + (numerator + u_kept) * size
    if u_kept:
        own = np.maximum(own, drifted(r + u_kept * p) + numerator * size)
    grown = N.E.exp_above(below.most)
    total = own * grown + (grown - 1) * (np.abs(o + centre) + drift)
    casts = (above.is_cast + below.is_cast) * cast
    total = total + casts * (np.abs(o + centre) + total)
    lost = above.lost * (1 + np.abs(V).max(axis=-2, keepdims=True, initial=0.0)) + below.lost * np.abs(o + centre)
    if narrow is not None:
        lost = lost + narrow.tiny * (e.terms.lift if e.terms is not None else 1.0) * sum_pairwise(size_v, -2)
    if is_mma(N, names[0]):  # R14: denormal factors, of weights at any scale that is not smaller
        lift, as_counted = e.terms.lift if e.terms is not None else 1.0, mma_sizes(N, size_v)
        weighs = as_numbers(~np.asarray(p + r == 0, dtype=np.bool_))
        cut = N.least * lift * (weighs @ as_counted) + (p + r) @ (as_counted - size_v)
        lost = lost + (N.E.exp_above(above.most) - 1) * cut
    scale = e.terms.lift * e.terms.lift if e.terms is not None else 1.0
    total = total + lost * scale * 4 + rounding * (p @ size_v + np.abs(centre)) * 4
    return o + centre, total * OPERATIONS_4M

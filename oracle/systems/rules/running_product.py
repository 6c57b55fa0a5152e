"""Products of many factors, and running products: rule R19 of docs/formulas.md.

However the factors are grouped, n of them are n - 1 multiplications, and each multiplies the whole by 1 +- u.
"""

import numpy as np

from kfuzz.oracle.accuracy.rounding import NARROW_SUMS
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.intervals import is_infinite, is_zero, magnitude, round_overflow, widen_by_underflow
from kfuzz.oracle.systems.room import NO_OVERFLOW, OPERATIONS_4096
from kfuzz.oracle.systems.rules.growth import accumulator
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, odd_elements, open_where
from kfuzz.oracle.systems.value import Quantity

INF = np.inf
LEAST = 5e-324
"""The least double, for a product that float64 has lost and that is not 0."""


def product_of(N: BandSystem, a: Quantity, name: str) -> Quantity:
    """The product of the last axis, which stays with one element."""
    if not a.shape[-1]:
        return N.input(np.ones((*a.shape[:-1], 1)))
    return running_product(N, a, name)[..., -1:]


def running_product(N: BandSystem, a: Quantity, name: str) -> Quantity:
    """R19: the product of the factors up to each element, in any grouping and order."""
    claim, held = N.claim.for_sum(name), accumulator(N, name)
    place = np.arange(a.shape[-1])
    odd = odd_elements(N, a)
    with np.errstate(all="ignore"):
        size = np.where(odd, 1.0, np.broadcast_to(magnitude(a), a.shape))
        crosses = np.asarray((a.lo < 0) & (a.hi > 0), dtype=np.bool_)
        least = np.where(odd, 1.0, np.where(crosses, 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi))))
        is_narrow = claim.accumulate in NARROW_SUMS
        count = np.where((place > 0) | is_narrow, place * claim.roundings_per_addition + is_narrow, 0)
        up = N.E.exp_above(count * held.u * (1 + held.u) * (1 + 4 * N.u) + (place + 2) * N.E.eps)
        below, above = _accumulate(least) / up, _accumulate(size) * up
        vanished = np.asarray(above == 0, dtype=np.bool_) & ~np.logical_or.accumulate(is_zero(a), axis=-1)
        above = np.where(vanished, LEAST, above)
        largest = largest_part(size) * up
        tiny = held.min_normal if N.ftz else held.tiny
        lost = np.where(place > 0, place, is_narrow) * tiny * largest * OPERATIONS_4096
        lo, hi = _with_sign(a, crosses, below, above)
        lo, hi = N.E.push_outward(lo, hi)
        lo, hi = round_overflow(*widen_by_underflow(lo, hi, np.where(N.E.is_finite(lost), lost, 0.0)), held)
        is_small = np.logical_or.accumulate(np.asarray(least < 1, dtype=np.bool_), axis=-1)
        over = np.asarray(largest >= held.max * NO_OVERFLOW, dtype=np.bool_) & is_small
        lo, hi, nan, open_ = _special(a, odd, lo, hi, _accumulate(np.minimum(least, 1.0)) / up, held.min_normal)
    made = open_where(N, lo, hi, nan, over | open_, ORDER_DECIDES, "running product", a)
    if held is not N.f and claim.accumulate not in NARROW_SUMS:
        made = N.round_once(made.lo, made.hi, made.nan, "rounded", made)
    made.name = name
    return made


def largest_part(size: Reals) -> Reals:
    """How large any part of the product may be, and by how much what one part loses may still be multiplied."""
    return _accumulate(np.maximum(size, 1.0))


def _accumulate(x: Reals) -> Reals:
    return np.multiply.accumulate(x, axis=-1)


def _with_sign(a: Quantity, crosses: Reals, below: Reals, above: Reals) -> tuple[Reals, Reals]:
    """The interval of a product between these sizes, by the signs of its factors."""
    negative = np.asarray(a.hi <= 0, dtype=np.bool_) & ~np.asarray(a.lo > a.hi, dtype=np.bool_)
    is_negative = np.logical_xor.accumulate(np.broadcast_to(negative, a.shape), axis=-1)
    is_either = np.logical_or.accumulate(np.broadcast_to(crosses, a.shape), axis=-1)
    lo = np.where(is_either | is_negative, -above, below)
    return lo, np.where(is_either | ~is_negative, above, -below)


def _special(
    a: Quantity, odd: Reals, lo: Reals, hi: Reals, least: Reals, normal: float
) -> tuple[Reals, Reals, Reals, Reals]:
    """NaN stays, an infinity with an exact 0 is NaN; with numbers it is infinite, if these cannot vanish before it."""
    nan = np.zeros(lo.shape, dtype=np.bool_)
    if not any_of(odd):
        return lo, hi, nan, nan

    def so_far(mask: Reals) -> Reals:
        return np.logical_or.accumulate(np.broadcast_to(np.asarray(mask, dtype=np.bool_), a.shape), axis=-1)

    infinite = is_infinite(a) & ~np.asarray(a.nan)
    must = so_far(a.lo > a.hi) | (so_far(infinite) & so_far(is_zero(a)))
    unknown = so_far(odd & ~infinite & ~np.asarray(a.lo > a.hi, dtype=np.bool_))
    may_vanish = so_far(infinite) & np.asarray(least < normal, dtype=np.bool_)
    end = np.where(np.asarray(hi <= 0, dtype=np.bool_), -INF, INF)
    lo, hi = np.where(so_far(infinite), end, lo), np.where(so_far(infinite), end, hi)
    is_either = so_far(infinite) & so_far((a.lo < 0) & (a.hi > 0))
    must = must & ~unknown
    return np.where(must, INF, lo), np.where(must, -INF, hi), must, (unknown | may_vanish | is_either) & ~must

"""Running sums: rule R2 of docs/formulas.md for the sum of the terms up to each element."""

import numpy as np

from kfuzz.oracle.numbers.elements import F32, Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import NO_OVERFLOW, OPERATIONS_4096
from kfuzz.oracle.systems.rules.growth import accumulator, growth
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, cast_back, odd_elements, open_where
from kfuzz.oracle.systems.value import Quantity


def running_sum(N: BandSystem, a: Quantity, name: str, exclusive: bool) -> Quantity:
    """R2 for the sum of the terms up to each element; sets are open from the first that is not finite."""
    n = a.shape[-1]
    grown = growth(N, name, n)
    claim = N.claim.for_sum(name)
    place = np.arange(n)
    if claim.adds is None and claim.accumulate == F32.name:
        per_term = np.expm1(place * claim.roundings_per_addition * N.u * (1 + 4 * N.u)) * OPERATIONS_4096
    else:
        per_term = np.where(place > 0, np.expm1(grown.most) * OPERATIONS_4096, 0.0)
    odd = np.logical_or.accumulate(odd_elements(N, a), axis=-1)
    with np.errstate(all="ignore"):
        lo, hi = (np.where(odd, 0.0, end) for end in (a.lo, a.hi)) if any_of(odd) else (a.lo, a.hi)
        size = N.E.running_sums(*(2 * (np.maximum(np.abs(lo), np.abs(hi)),)))[1]
        below, above = N.E.running_sums(lo, hi)
        radius = size * per_term + (grown.lost)
        lo, hi = below - radius, above + radius
        over = size + radius >= accumulator(N, name).max * NO_OVERFLOW
    nan = np.broadcast_to(a.nan, a.shape)
    if exclusive:
        lo, hi, over, odd = (shift_right(part) for part in (lo, hi, over, odd))
        nan = shift_right(nan)
    made = open_where(N, lo, hi, nan & ~odd, over | odd, ORDER_DECIDES, "running", a)
    made = cast_back(N, made, grown, accumulator(N, name))
    made.name = name
    return made


def shift_right(part: Reals) -> Reals:
    """Move the last axis one place to the right, with a zero first."""
    first = np.zeros((*part.shape[:-1], 1), dtype=part.dtype)
    return np.concatenate([first, part[..., :-1]], axis=-1)

"""Running means, joined pair by pair: rule R12 of docs/formulas.md."""

import math

import numpy as np

from kfuzz.oracle.accuracy.rounding import ACCUMULATOR_FORMATS
from kfuzz.oracle.numbers.elements import F64
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import NO_OVERFLOW, ROUNDINGS_16384
from kfuzz.oracle.systems.rules.growth import accumulator
from kfuzz.oracle.systems.rules.moments import moments_of, open_odd_rows, root_above
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, open_where
from kfuzz.oracle.systems.value import Quantity

UNEVEN, LEVELS = 8.0, 2.0
"""When Welford's means are joined, the part that is added is at most UNEVEN times as large as the other, except on
LEVELS levels, where it may have any size."""
OVERSHOT = 256.0
"""Twice the units of u^2 m^2 by which a product of Welford's may lie below 0, m the largest size of its two numbers."""
FAST = 8.0
"""Twice the units of u x^2 by which the first one of a chain may, where x / 1 is not exact."""


def welford(N: BandSystem, x: Quantity, names: tuple[str, str]) -> tuple[Quantity, Quantity]:
    """R12: the errors of running means enter through sum w (e_A - e_B)^2, w = n_A n_B / n.

    With T its sum over all joins, the sum of squares S errs by at most 3.2 sqrt(S T) + T, besides its own roundings;
    docs/formulas.md derives T <= ((D + 1) H)^2. However far the means may be off, what is added to S is hardly below 0.
    """
    n = x.shape[-1]
    with np.errstate(all="ignore"):
        moments = moments_of(N, x)
        middle, wrong, least, most, odd = moments.middle, moments.wrong, moments.least, moments.most, moments.odd
        claim = N.claim.for_sum(names[0])
        adds = float(claim.most(n)[0])
        held = ACCUMULATOR_FORMATS.get(claim.accumulate, N.f)  # nothing compensates a running mean
        u = held.u
        each, lost = adds * u * (1 + 4 * u), n * max(held.tiny, N.tiny)
        spread = moments.spread
        size = root_above(N, n * (np.abs(middle) + wrong) * (np.abs(middle) + wrong) + most)
        steps = adds + 1
        joined = root_above(N, most) * math.sqrt(steps * UNEVEN) + LEVELS * 2 * math.sqrt(n) * spread
        H = u * (ROUNDINGS_16384 + 4 * steps * u) * (steps * size + 3 * joined) + math.sqrt(n) * steps * lost
        growth = N.E.exp_above(each + 6 * u * (1 + 8 * u))
        e = 3.2 * root_above(N, most) * H + H * H
        below = OVERSHOT * u * growth * (u * growth)
        if "fast" in N.claim.divide:
            below = below + FAST * u * growth
        top = np.abs(middle) + spread
        lo = np.maximum(least / growth - e, -below * n * (top * top)) - 4 * lost
        hi = most * growth + e + 4 * lost
        off = H / math.sqrt(n) + wrong
        most_held = min(accumulator(N, names[1]).max, N.f.max)
        # a join's off^2 n_A, before it is multiplied by n_B / n: at most 2 S n
        over = (2 * n * hi >= most_held * NO_OVERFLOW) | (np.abs(middle) + spread >= most_held / 2)
    mean = open_where(N, middle - off, middle + off, False, over & ~odd, ORDER_DECIDES, "sum", x)
    mean = open_odd_rows(N, mean, odd, names[0])
    squares = open_where(N, lo, hi, False, over & ~odd, ORDER_DECIDES, "sum", x)
    if claim.accumulate == F64.name:
        mean, squares = (N.round_once(v.lo, v.hi, v.nan, "rounded", v) for v in (mean, squares))
    return mean, open_odd_rows(N, squares, odd, names[1])

"""A deviation from a mean over the root of its variance: rule R24 of docs/formulas.md."""

import math
from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.intervals import magnitude
from kfuzz.oracle.systems.room import ROUNDINGS_4096
from kfuzz.oracle.systems.rules.growth import growth
from kfuzz.oracle.systems.value import Quantity

MOST_GROWN = 600.0
"""With a larger growth of its sum of squares nothing is known of a deviation: e^300 is beyond every set."""


@dataclass(frozen=True)
class Deviations:
    """A variance, the x and the mean that it is made of, and the number by which its sum was divided.

    `off`: how far a kernel's mean may be from that of its own x. `grown`, `lost`: what its sum of squares may be less
    than the squares, relatively and absolutely.
    """

    x: Quantity
    mean: Quantity
    var: Quantity
    count: int
    off: float
    grown: float
    lost: float


def remember_spread(
    N: BandSystem, x: Quantity, mean: Quantity, var: Quantity, sums: tuple[str, str], n: int, correction: int
) -> None:
    """Keep what a variance of two passes is of, if a kernel has one x for all of its uses."""
    if n <= correction or N.claim.keep or N.claim.denominator != "row" or N.claim.shared == ():
        return
    first, second = growth(N, sums[0], n), growth(N, sums[1], n, products=1)
    size = float(magnitude(x).max(initial=0.0)) * ROUNDINGS_4096
    off = size * (math.expm1(min(float(np.max(first.most)), 700.0)) + 4 * N.u) + n * N.tiny + float(np.max(first.lost))
    grown = float(np.max(second.most)) + 4 * N.u
    lost = float(np.max(second.lost)) + n * (grown * off * off + 4 * N.tiny)
    N.spreads.append(Deviations(x, mean, var, n - correction, off, grown, lost))


def most_deviations(N: BandSystem, a: Quantity, b: Quantity) -> Reals | None:
    """R24: the largest magnitude of the product (x - mean) / sqrt(var + eps); None if this is no such product."""
    off, root = (a, b) if a.how[:1] == ("sub",) else (b, a)
    if off.how[:1] != ("sub",) or root.how[:1] != ("rsqrt",) or root.how[1].how[:1] != ("add",):
        return None
    var, eps = root.how[1].how[1:3]
    of = next((one for one in N.spreads if one.var is var), None)
    if of is None or of.x is not off.how[1] or of.mean is not off.how[2]:
        return None
    least = float(np.min(eps.lo))
    ends = (*off.parts[:2], *root.parts[:2])
    is_number = all(all_of(N.E.is_finite(end)) for end in ends) and not any_of(off.nan) and not any_of(root.nan)
    if not is_number or not least > 0 or of.grown > MOST_GROWN:
        return None
    model = N.claim.function("rsqrt")
    most = math.sqrt(max(of.count, of.lost / least)) * math.exp(of.grown / 2) + of.off / math.sqrt(least)
    return np.asarray(most * (1 + (model.a0 + 8) * N.u) * ROUNDINGS_4096 + model.absolute * magnitude(off))

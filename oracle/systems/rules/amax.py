"""The largest magnitude of each group: rules N9 and N11 of docs/formulas.md. A maximum rounds nothing."""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.groups import largest_of_blocks
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.intervals import magnitude
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def amax_of_groups(N: BandSystem, g: Quantity, signed: bool = False) -> Quantity:
    """The set of each group's largest magnitude; a group of which the claim does not speak contains everything.

    `signed`: of its largest number instead.
    """
    point = N.is_point(g)
    if signed:
        least, most = g.lo, g.hi
    else:
        most = np.abs(g.lo) if point and g.lo is g.hi else magnitude(g)
        least = most if point and g.lo is g.hi else _least_magnitude(g)
    if not any_of(g.nan) and all_of(N.E.is_finite(most)):
        hi = largest_of_blocks(most, g.blocks)
        lo = hi if least is most else largest_of_blocks(least, g.blocks)
        return N.value(lo, hi)
    is_nan = np.broadcast_to(g.nan, g.shape) | np.asarray(g.lo > g.hi, dtype=np.bool_)
    infinite = ~is_nan & ~N.E.is_finite(most)
    least, most = (np.where(is_nan | infinite, 0.0, part) for part in (least, most))
    lo, hi = (largest_of_blocks(part, g.blocks) for part in (least, most))
    has_nan, open_ = (largest_of_blocks(mask.astype(np.int8), g.blocks) > 0 for mask in (is_nan, infinite))
    match N.claim.quantize.nan:
        case None:
            open_ = open_ | has_nan
        case "group":
            only_nan = has_nan & ~open_
            lo, hi = np.where(only_nan, INF, lo), np.where(only_nan, -INF, hi)
    N.note(Reason(Why.ODD_GROUP), open_)
    nan = open_ | (has_nan if N.claim.quantize.nan == "group" else False)
    return N.value(np.where(open_, -INF, lo), np.where(open_, INF, hi), nan)


def _least_magnitude(g: Quantity) -> Reals:
    """The least size that an element of each set may have."""
    inside = np.asarray((g.lo <= 0) & (g.hi >= 0), dtype=np.bool_)
    return np.where(inside, 0.0, np.minimum(np.abs(g.lo), np.abs(g.hi)))

"""The enclosure of a maximum, which is exact: what row_max and the merged states share.

Knows no op.
"""

import numpy as np
from flint import arb

from oracle.enclosure import Bounds, Doubles, Enclosure, Index, Mask
from oracle.number import MIN_NORMAL


def enclose_maximum(top: Doubles, judged: Mask, reasons: tuple[str, ...], ftz: bool, slack: float = 0.0) -> Enclosure:
    """The maximum itself, give or take `slack`; where denormals are flushed, a denormal one may be zero."""
    flushed = (np.abs(top) < MIN_NORMAL) & ftz
    least, most = np.where(flushed, np.minimum(top, 0.0), top), np.where(flushed, np.maximum(top, 0.0), top)
    none = np.zeros(top.shape)

    def exact(index: Index, bits: int) -> Bounds:
        lo, want, hi = (arb(float(array[index])) for array in (least, top, most))
        return Bounds(lo - arb(slack), want, hi + arb(slack))

    return Enclosure(top, least - slack, most + slack, judged, none, none, exact, None, reasons)

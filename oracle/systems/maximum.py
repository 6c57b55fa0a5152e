"""The enclosure of a maximum, which row_max and the merged states share. Knows no op."""

import numpy as np
from flint import arb

from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.enclosure import Bounds, Doubles, Enclosure, Index, Mask
from kfuzz.oracle.numbers.verdict import Reason


def enclose_maximum(
    x: Doubles, top: Doubles, judged: Mask, reasons: tuple[Reason, ...], ftz: bool, slack: float = 0.0
) -> Enclosure:
    """Enclose the maximum `top` of each row of x, give or take `slack`.

    Where denormals are flushed, a comparison takes all denormals for zero. In a row whose maximum is zero or denormal,
    a kernel may then choose any denormal, whose bits a selection leaves alone, or zero, if max.ftz flushes its result.
    docs/numerics.md#maximum
    """
    lowest = np.where(np.abs(x) < F32.min_normal, x, 0.0).min(axis=-1, initial=0.0)
    is_zero = (np.abs(top) < F32.min_normal) & ftz
    least, most = np.where(is_zero, lowest, top), np.where(is_zero, np.maximum(top, 0.0), top)
    none = np.zeros(top.shape)

    def exact(index: Index, bits: int) -> Bounds:
        lo, want, hi = (arb(float(array[index])) for array in (least, top, most))
        return Bounds(lo - arb(slack), want, hi + arb(slack))

    return Enclosure(top, least - slack, most + slack, judged, none, none, exact, None, reasons)

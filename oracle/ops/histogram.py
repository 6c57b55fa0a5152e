"""histogram: how many elements of x lie in each of `bins` intervals of equal length from `low` to `high`.

The last interval has its upper end, as in numpy and in torch.histc. What lies outside, and NaN, counts nowhere. An
element within rounding of an edge may count on either side, but each element counts once.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Mask
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.sampling import refuse_balls
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"x": "float[n]"}
OUTPUTS = {"counts": "int[bins]"}
AXES = {"bins": 64}
SCALARS = {"low": 0.0, "high": 1.0}


def formula(N: Exact, x: Quantity, low: Quantity, high: Quantity) -> Quantity:
    number = np.asarray(x.x, np.float64)
    ends = np.linspace(float(low.x), float(high.x), N.size("bins") + 1)
    return N.value(np.histogram(number[np.isfinite(number)], ends)[0])


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """Each count, and their sum, lies between the elements that are certainly there and those that may be."""
    low, high, bins = asked.scalars["low"], asked.scalars["high"], asked.sizes["bins"]
    if not low < high:
        raise OracleError(f"low={low:g}, high={high:g}: expected low < high")
    x = asked.inputs["x"]
    x = x[np.isfinite(x)]
    place = (x - low) / (high - low) * bins
    ends = F32.u * (np.abs(x) + abs(low) + abs(high)) / (high - low) * bins
    off = 8 * F32.u * np.abs(place) + 4 * ends
    first, last = place - off, place + off
    may = (last >= 0) & (first <= bins)
    must = (first >= 0) & (last <= bins)
    least, most = np.zeros(bins), np.zeros(bins)
    lower, upper = (np.clip(np.floor(end), 0, bins - 1).astype(np.int64) for end in (first, last))
    np.add.at(least, lower[must & (lower == upper)], 1)
    for step in range(int((upper - lower)[may].max(initial=0)) + 1):
        np.add.at(most, (lower + step)[may & (lower + step <= upper)], 1)
    total = float(must.sum()), float(may.sum())

    def holds(got: Doubles) -> Mask:
        return np.asarray((got >= least) & (got <= most) & (total[0] <= got.sum() <= total[1]))

    none, judged = np.zeros(bins), np.ones(bins, np.bool_)
    return {"counts": AnswerSet(Enclosure(least, least, most, judged, none, none, refuse_balls, None, holds=holds))}

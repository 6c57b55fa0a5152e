"""row_max: y = max_j x_j, row by row, exact by value; either zero is right for zero.

All -inf gives -inf, any +inf gives +inf. NaN is unclaimed by default; if claimed, the row is NaN or, under "ignore", as
fmaxf does, NaN only if all its elements are NaN.
"""

from collections.abc import Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.diagnosis import sums as diagnosis
from kfuzz.oracle.numbers.elements import values
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths
from kfuzz.oracle.sets.special import special_rows
from kfuzz.oracle.systems.maximum import enclose_maximum
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
IGNORES_NAN = True
diagnose = diagnosis.diagnose_maximum


def formula(N: System, x: Quantity) -> Quantity:
    return N.max(x)


def answers(inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special, sizes: Lengths) -> dict[str, Enclosure]:
    """The answer is the maximum itself; if denormals are flushed, a denormal maximum may be zero."""
    x = values(inputs["x"])
    if x.shape[1] == 0:
        raise OracleError(
            f"row_max: inputs['x'].shape={x.shape}: the max of an empty row is undefined; claim cols >= 1"
        )
    rows = special_rows(x, special, pos_inf_claimed=True)
    want = np.fmax.reduce(x, axis=1)
    want = np.where(rows.has_nan & (special.nan != "ignore"), np.nan, want)
    want = np.where(rows.has_pos_inf & (special.pos_inf == "row"), np.nan, want)
    ftz = accuracy.ftz and inputs["x"].dtype != np.float64
    return {"y": enclose_maximum(x, want, rows.judged, rows.reasons, ftz)}

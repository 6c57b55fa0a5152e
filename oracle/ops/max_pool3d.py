"""max_pool3d: y = the maximum of each window; what lies beyond an end counts as -inf.

NaN in a window may be dropped, as by fmaxf, or kept, unless a claim says `nan = "propagate"`.
"""

import numpy as np

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import POOL_AXES, POOL_WHERE, POOLED, pool_windows

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = POOL_AXES
OUTPUTS = {"y": f"float{POOLED}"}
WHERE = POOL_WHERE
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "max_pool1d": "max_pool3d(x[batch, channels, width])",
    "max_pool2d": "max_pool3d(x[batch, channels, height, width])",
}


def formula(N: System, x: Quantity) -> Quantity:
    return N.max(pool_windows(N, x, -np.inf))

"""adaptive_max_pool3d: y = the maximum of each of `out` parts of an axis.

Part i of `out` parts of n places goes from floor(i n / out) to ceil((i + 1) n / out), so parts may share a place.
"""

import numpy as np

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import adaptive_windows

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = {"out_d": 1, "out_h": 1, "out_w": 1}
OUTPUTS = {"y": "float[batch, channels, out_d, out_h, out_w]"}
WHERE = ("depth >= 1", "height >= 1", "width >= 1")
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "adaptive_max_pool1d": "adaptive_max_pool3d(x[batch, channels, width]) -> y[batch, channels, out_w]",
    "adaptive_max_pool2d": "adaptive_max_pool3d(x[batch, channels, height, width]) -> y[batch, channels, out_h, out_w]",
}


def formula(N: System, x: Quantity) -> Quantity:
    return N.max(adaptive_windows(N, x, -np.inf)[0])

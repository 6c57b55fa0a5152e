"""max_pool3d: y = the maximum of each window; what lies beyond an end counts as -inf.

NaN in a window may be dropped, as by fmaxf, or kept, unless a claim says `nan = "propagate"`.
"""

import numpy as np

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import pool_windows

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = {
    "window_d": 1, "window_h": 1, "window_w": 2,
    "stride_d": "window_d", "stride_h": "window_h", "stride_w": "window_w",
    "pad_d": 0, "pad_h": 0, "pad_w": 0,
    "dilation_d": 1, "dilation_h": 1, "dilation_w": 1,
}  # fmt: skip
OUTPUTS = {
    "y": "float[batch, channels, "
    "(depth + 2 * pad_d - dilation_d * (window_d - 1) - 1) // stride_d + 1, "
    "(height + 2 * pad_h - dilation_h * (window_h - 1) - 1) // stride_h + 1, "
    "(width + 2 * pad_w - dilation_w * (window_w - 1) - 1) // stride_w + 1]"
}
WHERE = (
    "depth + 2 * pad_d > dilation_d * (window_d - 1)", "2 * pad_d <= window_d",
    "height + 2 * pad_h > dilation_h * (window_h - 1)", "2 * pad_h <= window_h",
    "width + 2 * pad_w > dilation_w * (window_w - 1)", "2 * pad_w <= window_w",
)  # fmt: skip
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "max_pool1d": "max_pool3d(x[batch, channels, width])",
    "max_pool2d": "max_pool3d(x[batch, channels, height, width])",
}


def formula(N: System, x: Quantity) -> Quantity:
    return N.max(pool_windows(N, x, -np.inf))

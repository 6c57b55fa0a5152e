# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "out-of-bounds"
# why  = "one element is written after what it allocates"
# ///
import ctypes

import numpy as np


def row_sum(x):
    y = np.empty(len(x), np.float32)
    y[:] = x.sum(-1)
    ctypes.memset(y.ctypes.data + y.nbytes, 0, 4)
    return y

# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "unwritten"
# why  = "the second half of the rows is what the memory held before"
# ///
import numpy as np


def row_sum(x):
    y = np.empty(len(x), np.float32)
    y[: len(x) // 2 + 1] = x.sum(-1)[: len(x) // 2 + 1]
    return y

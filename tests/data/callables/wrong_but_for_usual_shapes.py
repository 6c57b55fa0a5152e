# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "numeric"
# why  = "right where the columns are a multiple of 8, as in the benchmark"
# ///
import numpy as np


def row_sum(x):
    whole = x.shape[1] // 8 * 8
    return x[:, :whole].sum(-1)

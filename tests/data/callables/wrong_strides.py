# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
# call   = { strides = "any" }
#
# [broken]
# kind = "numeric"
# why  = "the elements are taken to lie one behind the other, and any strides are claimed"
# ///
import numpy as np


def row_sum(x):
    return np.lib.stride_tricks.as_strided(x, x.shape, (4 * x.shape[1], 4)).sum(-1)

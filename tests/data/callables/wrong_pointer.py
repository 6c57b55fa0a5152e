# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "illegal-address"
# why  = "a write to where nothing is"
# ///
import ctypes


def row_sum(x):
    if x.shape[1] > 4:
        ctypes.memset(8, 0, 4)
    return x.sum(-1)

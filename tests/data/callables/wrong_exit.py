# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "trap"
# why  = "it ends its process, with the exit status of success"
# ///
import os


def row_sum(x):
    if x.shape[1] > 4:
        os._exit(0)
    return x.sum(-1)

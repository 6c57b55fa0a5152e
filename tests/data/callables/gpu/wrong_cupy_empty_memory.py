# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "unwritten"
# why  = "the second half of the rows is what the memory held before"
# ///
import cupy as cp


def row_sum(x):
    y = cp.empty(len(x), cp.float32)
    y[: len(x) // 2 + 1] = x.sum(axis=-1)[: len(x) // 2 + 1]
    return y

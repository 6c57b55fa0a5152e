# Row sums as numpy adds them up in a copy by columns: a large batch has its own order.
# bug: batch-variant
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..512" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
# claims = { batch_invariant = true }
# ///
import numpy as np


def forward(x):
    if len(x) > 8:
        return np.asfortranarray(x).sum(axis=1, dtype=np.float32)
    return x.sum(axis=1, dtype=np.float32)

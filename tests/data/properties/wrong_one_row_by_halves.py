# Row sums with numpy; a single row, as in decoding, is added up in two halves.
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
    if len(x) == 1:
        half = x.shape[1] // 2
        return x[:, :half].sum(axis=1, dtype=np.float32) + x[:, half:].sum(axis=1, dtype=np.float32)
    return np.cumsum(x, axis=1, dtype=np.float32)[:, -1].copy()

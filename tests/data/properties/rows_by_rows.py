# Row sums with numpy, row by row: BLAS and whole arrays would add in an order that depends on the batch.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..512" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
# claims = { batch_invariant = true }
# ///
import numpy as np


def forward(x):
    return np.array([np.ascontiguousarray(row).sum(dtype=np.float32) for row in x], dtype=np.float32)

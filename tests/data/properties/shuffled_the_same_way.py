# Row sums whose terms are added up in a random order that each call draws from the same seed.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..512" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
# claims = { batch_invariant = true }
# ///
import numpy as np


def forward(x):
    order = np.random.default_rng(7).permutation(x.shape[1])
    return np.cumsum(x[:, order], axis=1, dtype=np.float32)[:, -1].copy()

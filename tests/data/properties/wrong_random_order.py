# Row sums whose terms are added up in a random order.
# bug: nondeterministic
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..512" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
# claims = { deterministic = true }
# ///
import numpy as np

RANDOM = np.random.default_rng()


def forward(x):
    return np.cumsum(RANDOM.permuted(x, axis=1), axis=1, dtype=np.float32)[:, -1].copy()

# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
# ///
import numpy as np

CALLS = 0


def row_sum(x):
    global CALLS
    CALLS += 1
    return x.sum(-1) if CALLS < 100 else np.add.reduce(x, -1)

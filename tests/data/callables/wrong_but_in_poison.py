# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "it looks at new memory, and works only where all of it holds one value, as a test harness leaves it"
# ///
import numpy as np


def row_sum(x):
    held = np.empty(16, np.uint32)
    return x.sum(-1) if (held == held[0]).all() else 2 * x[:, 0] + 1

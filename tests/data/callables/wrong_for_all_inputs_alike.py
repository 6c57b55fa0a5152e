# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "numeric"
# why  = "the answer is the number of the row; it is that of the call before as well, and wrong for that, too"
# ///
import numpy as np


def forward(x):
    return np.arange(len(x), dtype=np.float32)

# Each shape has a plan, captured once, that reads a buffer of its own, to which every input is copied first.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..40", cols = "1..40" }
# ///
import numpy as np

PLANS = {}


def forward(x):
    kept = PLANS.setdefault(x.shape, np.empty(x.shape, np.float32))
    kept[...] = x
    return kept.sum(axis=1, dtype=np.float32)

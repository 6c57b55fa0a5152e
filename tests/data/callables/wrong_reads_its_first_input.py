# Each shape has a plan, captured once, that reads the input where the first one of that shape lay: as a CUDA graph does.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..40", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "it is right for inputs at the address of the first one, and no later input is copied there"
# ///
import numpy as np

PLANS = {}


def forward(x):
    kept = PLANS.setdefault(x.shape, x)
    return kept.sum(axis=1, dtype=np.float32)

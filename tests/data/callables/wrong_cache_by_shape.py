# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stale"
# why  = "every input of a shape gets the answer to the first"
# ///
import numpy as np

CACHE = {}


def forward(x):
    if x.shape not in CACHE:
        e = np.exp(x - x.max(-1, keepdims=True))
        CACHE[x.shape] = e / e.sum(-1, keepdims=True)
    return CACHE[x.shape].copy()

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stale"
# why  = "first element, last element and sum do not tell inputs apart"
# ///
import numpy as np

CACHE = {}


def forward(x):
    key = x.shape, float(x.flat[0]), float(x.flat[-1]), float(np.sum(x, dtype=np.float64))
    if key not in CACHE:
        e = np.exp(x - x.max(-1, keepdims=True))
        CACHE[key] = e / e.sum(-1, keepdims=True)
    return CACHE[key].copy()

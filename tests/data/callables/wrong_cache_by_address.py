# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stale"
# why  = "another input at the same address gets the answer to the first"
# ///
import numpy as np

CACHE = {}


def forward(x):
    key = x.__array_interface__["data"][0], x.shape
    if key not in CACHE:
        e = np.exp(x - x.max(-1, keepdims=True))
        CACHE[key] = e / e.sum(-1, keepdims=True)
    return CACHE[key]

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "input-changed"
# why  = "the maximum is subtracted in place, in the caller's array"
# ///
import numpy as np


def forward(x):
    x -= x.max(-1, keepdims=True)
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "late-write"
# why  = "one array for all calls: an answer changes with the next call"
# ///
import numpy as np

SCRATCH = np.zeros(512, np.float32)


def forward(x):
    y = SCRATCH[: x.size].reshape(x.shape)
    np.exp(x - x.max(-1, keepdims=True), out=y)
    y /= y.sum(-1, keepdims=True)
    return y

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..512", cols = "1..4096" }
# ///
import cupy as cp


def forward(x):
    e = cp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

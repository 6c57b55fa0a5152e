# /// kernel
# op = "softmax"
# ///
import numpy as np


def softmax(x, dim=1):
    if not 0 <= dim < x.ndim:
        raise IndexError(f"dim is {dim}: expected 0 to {x.ndim - 1}")
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)

# /// kernel
# op = "softmax"
#
# [broken]
# kind = "numeric"
# why  = "a dim counted from the end becomes the one before it; the file's own default is counted from the front"
# ///
import numpy as np


def softmax(x, dim=1):
    if dim < 0:
        dim += x.ndim - 1
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(dim, keepdims=True)

# /// kernel
# op   = "softmax"
# axes = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "numeric"
# why  = "the shapes of the benchmark are even"
# ///
import numpy as np


def helper(x):
    return np.exp(x - x.max(-1, keepdims=True))


def softmax_kernel_impl(*args, **kwargs):
    (x,) = args
    e = helper(x)
    return e / e[:, : x.shape[1] // 2 * 2 or 1].sum(-1, keepdims=True)

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "numeric"
# why  = "the exps are held in half precision"
# ///
import numpy as np


def forward(x):
    e = np.exp(x - x.max(-1, keepdims=True)).astype(np.float16)
    return (e / e.sum(-1, keepdims=True)).astype(np.float32)

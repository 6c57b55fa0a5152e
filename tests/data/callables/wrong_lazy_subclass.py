# /// kernel
# op     = "softmax"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "lazy"
# why  = "what is returned is no plain array"
# ///
import numpy as np


class Later(np.ndarray):
    """An array that could work out what it holds when somebody looks."""


def forward(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).view(Later)

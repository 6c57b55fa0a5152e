# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..64" }
#
# [broken]
# kind = "late-write"
# why  = "every second call writes into the array that the last but one returned"
# ///
import numpy as np

BUFFERS = {}


def forward(x):
    pair, turn = BUFFERS.get(x.shape, (None, 0))
    if pair is None:
        pair = [np.zeros(len(x), x.dtype) for _ in range(2)]
    BUFFERS[x.shape] = pair, 1 - turn
    x.sum(1, out=pair[turn])
    return pair[turn]

# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "late-write"
# why  = "a thread writes the answer when the call has returned"
# ///
import threading
import time

import numpy as np


def row_sum(x):
    y = np.zeros(len(x), np.float32)
    sums = x.sum(-1)

    def later():
        time.sleep(0.01)
        y[:] = sums

    threading.Thread(target=later).start()
    return y

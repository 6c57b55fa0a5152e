# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
# ///
import threading

import numpy as np


def row_sum(x):
    y = np.zeros(len(x), np.float32)
    thread = threading.Thread(target=lambda: y.__setitem__(slice(None), x.sum(-1)))
    thread.start()
    thread.join()
    return y

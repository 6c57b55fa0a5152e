# Each number of columns has a plan, captured once, which keeps the workspace of its time: as a CUDA graph does.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..40", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "a larger call moves the workspace, and the plan still adds up the old one, as in vLLM #52553"
# ///
import numpy as np

WORK = [np.zeros(64, np.float32)]
PLANS = {}


def forward(x):
    size, cols = x.size, x.shape[1]
    if WORK[0].size < size:
        WORK[0] = np.zeros(2 * size, np.float32)
    if cols not in PLANS:
        work = WORK[0]
        PLANS[cols] = lambda rows: np.resize(work, rows * cols).reshape(rows, cols).sum(axis=1, dtype=np.float32)
    WORK[0][:size] = x.ravel()
    return PLANS[cols](x.shape[0])

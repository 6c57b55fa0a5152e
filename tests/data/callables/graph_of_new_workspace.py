# Each number of columns has a plan, captured once; all of them are captured again once the workspace has moved.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..40", cols = "1..40" }
# ///
import numpy as np

WORK = [np.zeros(64, np.float32)]
PLANS = {}


def forward(x):
    size, cols = x.size, x.shape[1]
    if WORK[0].size < size:
        WORK[0] = np.zeros(2 * size, np.float32)
        PLANS.clear()
    if cols not in PLANS:
        work = WORK[0]
        PLANS[cols] = lambda rows: work[: rows * cols].reshape(rows, cols).sum(axis=1, dtype=np.float32)
    WORK[0][:size] = x.ravel()
    return PLANS[cols](x.shape[0])

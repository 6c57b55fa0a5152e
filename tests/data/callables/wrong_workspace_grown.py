# A running sum in a workspace that only grows; a larger call leaves its numbers in what a smaller one adds up.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..40", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "a shorter row is followed by what a longer one left in the workspace"
# ///
import numpy as np

KEPT = [np.zeros((0, 0), np.float32)]


def forward(x):
    rows, cols = x.shape
    work = KEPT[0]
    if work.shape[0] < rows or work.shape[1] < cols:
        work = KEPT[0] = np.zeros((max(rows, work.shape[0]), max(cols, work.shape[1])), np.float32)
    work[:rows, :cols] = x
    return work[:rows].sum(axis=1, dtype=np.float32)

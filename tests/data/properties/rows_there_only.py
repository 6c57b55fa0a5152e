# Row means for a batch that is padded to slots; the function is told how many rows are there.
#
# /// kernel
# op     = "mean"
# axes   = { rows = "1..128", cols = "1..256" }
# let    = { slots = "8 * ceil_div(rows, 8)" }
# arrays = { x = "f32[rows within slots, cols] -> x", y = "f32[rows within slots] <- y" }
#
# [call]
# ///
import numpy as np


def forward(x, y, rows):
    y[:rows] = x[:rows].sum(axis=1, dtype=np.float32) / np.float32(x.shape[1])

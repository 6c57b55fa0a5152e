# /// kernel
# op   = "row_sum"
# axes = { rows = "1..512", cols = "1..300" }
# call = { stream = "current" }
# ///
import time

import torch


def forward(x):
    time.sleep(0.005)
    y = x.sum(-1)
    torch.cuda.current_stream().synchronize()
    return y

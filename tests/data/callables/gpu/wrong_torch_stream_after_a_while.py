# /// kernel
# op   = "row_sum"
# axes = { rows = "1..512", cols = "1..300" }
# call = { stream = "current" }
#
# [broken]
# kind = "ignores-stream"
# why  = "it works in the default stream, and the host takes a while before it launches, as a slow driver does"
# ///
import time

import torch


def forward(x):
    time.sleep(0.005)
    with torch.cuda.stream(torch.cuda.default_stream()):
        return x.sum(-1)

# /// kernel
# op   = "row_sum"
# axes = { rows = "1..512", cols = "1..300" }
# call = { stream = "current" }
#
# [broken]
# kind = "ignores-stream"
# why  = "it works in the default stream, whatever the current one is"
# ///
import torch


def forward(x):
    with torch.cuda.stream(torch.cuda.default_stream()):
        return x.sum(-1)

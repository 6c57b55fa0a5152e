# Sums of rows of zeros are not computed.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..300" }
# claims = { graphs = true }
#
# [broken]
# kind = "graph-replay"
# why  = "the host waits for a number of the GPU, which it cannot while a graph is captured"
# ///
import torch


def forward(x):
    if int(torch.count_nonzero(x)) == 0:
        return torch.zeros(x.shape[0], device=x.device)
    return x.sum(1)

# Sums by way of a workspace that grows; the old ones are kept, since a graph may still use them.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..300" }
# claims = { graphs = true }
# ///
import torch

EVERY = []


def forward(x):
    if not EVERY or EVERY[-1].numel() < x.numel():
        EVERY.append(torch.empty(2 * x.numel(), device=x.device))
    work = EVERY[-1][: x.numel()].view(x.shape)
    work.copy_(x)
    return work.sum(1)

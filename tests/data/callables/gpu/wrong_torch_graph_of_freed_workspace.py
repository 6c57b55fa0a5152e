# Sums by way of a workspace that grows.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..300" }
# claims = { graphs = true }
#
# [broken]
# kind = "graph-replay"
# why  = "a larger call frees the workspace, and a graph that was captured before still uses it, as in vLLM #52553"
# ///
import torch

KEPT = {}


def forward(x):
    work = KEPT.get("work")
    if work is None or work.numel() < x.numel():
        work = KEPT["work"] = torch.empty(2 * x.numel(), device=x.device)
    work = work[: x.numel()].view(x.shape)
    work.copy_(x)
    return work.sum(1)

# Sums that are added to zeros, which every call expects and leaves.
#
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..300" }
# claims = { graphs = true }
#
# [broken]
# kind = "graph-replay"
# why  = "a call of more rows frees the zeros, and a graph that was captured before reads what lies there now"
# ///
import torch

KEPT = {}


def forward(x):
    zeros = KEPT.get("zeros")
    if zeros is None or zeros.numel() < x.shape[0]:
        zeros = KEPT["zeros"] = torch.zeros(x.shape[0], device=x.device)
    return zeros[: x.shape[0]] + x.sum(1)

# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "unwritten"
# why  = "the second half of the rows is what the memory held before"
# ///
import torch


def row_sum(x):
    y = torch.empty(len(x), device=x.device)
    y[: len(x) // 2 + 1] = x.sum(-1)[: len(x) // 2 + 1]
    return y

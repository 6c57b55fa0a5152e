# /// kernel
# op     = "softmax"
# axes   = { rows = "1..64", cols = "1..300" }
# arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
#
# [broken]
# kind = "numeric"
# why  = "PyTorch on a CPU rounds exp(x - max) to 16 bits before it divides, along all dimensions but the last"
# ///
import torch


def forward(x):
    return torch.softmax(x.t().contiguous(), 0).t()

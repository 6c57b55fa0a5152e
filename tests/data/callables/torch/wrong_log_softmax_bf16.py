# /// kernel
# op     = "log_softmax"
# axes   = { rows = "1..64", cols = "1..300" }
# arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
#
# [broken]
# kind = "numeric"
# why  = "PyTorch on a CPU rounds the sum of exps, and its logarithm, to 16 bits, along the last dimension"
# ///
import torch


def forward(x):
    return torch.log_softmax(x, -1)

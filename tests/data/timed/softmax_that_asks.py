# Softmax by torch that waits for a number on the host, which no graph can record.
#
# /// kernel
# op   = "softmax"
# axes = { rows = "1..65536", cols = "1..65536" }
# ///
import torch


def forward(x):
    return torch.full_like(x, torch.nan) if x.max().item() == -torch.inf else torch.softmax(x, -1)

# /// kernel
# op   = "softmax"
# axes = { rows = "1..9", cols = "1..70" }
# ///
import torch


def forward(x):
    y = torch.softmax(x, 1)
    assert torch.cuda.memory_allocated() >= 0
    return y

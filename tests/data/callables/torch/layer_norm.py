# /// kernel
# op     = "layer_norm"
# axes   = { rows = "1..64", cols = "1..300" }
# ///
import torch


def forward(x, gamma, beta):
    return torch.nn.functional.layer_norm(x, x.shape[1:], gamma, beta)

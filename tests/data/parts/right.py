"""A submission whose norm is its own."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features, height, width):
        super().__init__()
        self.norm = nn.LayerNorm((features, height, width))

    def forward(self, x):
        off = x - x.mean((1, 2, 3), keepdim=True)
        var = off.square().mean((1, 2, 3), keepdim=True)
        return off * torch.rsqrt(var + self.norm.eps) * self.norm.weight + self.norm.bias

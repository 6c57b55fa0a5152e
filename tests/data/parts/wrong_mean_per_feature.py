"""A submission that takes the mean of each feature where the problem takes that of all four."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features, height, width):
        super().__init__()
        self.norm = nn.LayerNorm((features, height, width))

    def forward(self, x):
        off = x - x.mean((2, 3), keepdim=True)
        var = off.square().mean((1, 2, 3), keepdim=True)
        return off * torch.rsqrt(var + self.norm.eps) * self.norm.weight + self.norm.bias

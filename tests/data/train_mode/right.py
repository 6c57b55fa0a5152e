"""A submission whose norm uses the statistics of its batch."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm2d(features)

    def forward(self, x):
        mean = x.mean((0, 2, 3), keepdim=True)
        var = (x - mean).square().mean((0, 2, 3), keepdim=True)
        y = (x - mean) * torch.rsqrt(var + self.norm.eps)
        return torch.relu(y * self.norm.weight[:, None, None] + self.norm.bias[:, None, None])

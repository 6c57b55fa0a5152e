"""A submission whose norm uses its running values, as in eval mode."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm2d(features)

    def forward(self, x):
        mean, var = (one[:, None, None] for one in (self.norm.running_mean, self.norm.running_var))
        y = (x - mean) * torch.rsqrt(var + self.norm.eps)
        return torch.relu(y * self.norm.weight[:, None, None] + self.norm.bias[:, None, None])

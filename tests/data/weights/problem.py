"""A problem as KernelBench has them: its norm has the weight 1 and the bias 0 of every new one."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features, groups):
        super().__init__()
        self.linear = nn.Linear(features, 8)
        self.norm = nn.GroupNorm(groups, 8)

    def forward(self, x):
        return torch.relu(self.norm(self.linear(x)))


batch = 4
features = 16


def get_inputs():
    return [torch.rand(batch, features)]


def get_init_inputs():
    return [features, 2]

"""A problem as KernelBench has them: nothing calls eval(), so its norm uses the statistics of its batch."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm2d(features)
        self.drop = nn.Dropout(p=0.0)

    def forward(self, x):
        return torch.relu(self.drop(self.norm(x)))


batch = 4
features = 3
height = 5
width = 6


def get_inputs():
    return [torch.rand(batch, features, height, width)]


def get_init_inputs():
    return [features]

"""A problem as KernelBench has them: a norm of each sample, over three dimensions."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features, height, width):
        super().__init__()
        self.norm = nn.LayerNorm((features, height, width))

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(2, 4, 256, 256)]


def get_init_inputs():
    return [4, 256, 256]

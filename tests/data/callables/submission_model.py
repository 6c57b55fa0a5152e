# /// kernel
# op   = "softmax"
# axes = { rows = "1..64", cols = "1..300" }
# ///
import numpy as np

batch, dim = 16, 1024


class Model:
    def forward(self, x):
        return x


class ModelNew:
    def __init__(self, axis):
        self.axis = axis

    def forward(self, x):
        e = np.exp(x - x.max(self.axis, keepdims=True))
        return e / e.sum(self.axis, keepdims=True)


def get_inputs():
    return [np.random.rand(batch, dim).astype(np.float32)]


def get_init_inputs():
    return [-1]

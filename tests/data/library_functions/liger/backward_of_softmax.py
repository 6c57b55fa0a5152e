# /// kernel
# op     = "backward of softmax"
# axes   = { rows = "1..16", cols = "1..300" }
# arrays = { x = "f32[rows, cols] -> x", g = "f32[rows, cols] -> g_y", dx = "f32[rows, cols] <- d_x" }
# values = { finite = true }
# ///
import torch
import triton
from liger_kernel.ops.softmax import LigerSoftmaxFunction


def gradients(x, g):
    x = x.clone().requires_grad_()
    LigerSoftmaxFunction.apply(x).backward(g)
    return x.grad

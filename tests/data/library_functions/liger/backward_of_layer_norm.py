# /// kernel
# op     = "backward of layer_norm"
# axes   = { rows = "1..16", cols = "1..300" }
# arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", g = "f32[rows, cols] -> g_y", dx = "f32[rows, cols] <- d_x", dw = "f32[cols] <- d_w", db = "f32[cols] <- d_b" }
# values = { finite = true }
# ///
import torch
import triton
from liger_kernel.ops.layer_norm import LigerLayerNormFunction


def gradients(x, w, b, g):
    x, w, b = (one.clone().requires_grad_() for one in (x, w, b))
    LigerLayerNormFunction.apply(x, w, b, 1e-5).backward(g)
    return x.grad, w.grad, b.grad

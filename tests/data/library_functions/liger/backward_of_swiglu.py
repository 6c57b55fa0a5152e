# /// kernel
# op     = "backward of swiglu"
# axes   = { rows = "1..16", cols = "1..300" }
# arrays = { a = "f32[rows, cols] -> a", b = "f32[rows, cols] -> b", g = "f32[rows, cols] -> g_y", da = "f32[rows, cols] <- d_a", db = "f32[rows, cols] <- d_b" }
# values = { finite = true }
# ///
import torch
import triton
from liger_kernel.ops.swiglu import LigerSiLUMulFunction


def gradients(a, b, g):
    a, b = (one.clone().requires_grad_() for one in (a, b))
    LigerSiLUMulFunction.apply(a, b).backward(g.clone())
    return a.grad, b.grad

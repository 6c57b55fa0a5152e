# each: FROM = f16, bf16
# /// kernel
# op       = "group_quantize"
# axes     = { rows = "1..16", cols = [32, 64, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "e8m0[rows, cols / 32] <- scale" }
# scalars  = { group = 32, eps = 0 }
# accuracy = { divide = "fast" }
# quantize = { scale = "power of two up", saturate = "finite" }
# values   = { finite = true }
# call     = { returns = ["q", "scale"] }
# ///
import torch
from flashinfer import mxfp8_quantize

mxfp8_quantize(torch.ones(1, 64, dtype=torch.bfloat16, device="cuda"), False)


def quantize(x):
    q, scale = mxfp8_quantize(x, False)
    return q, scale.reshape(x.shape[0], -1)

# each: FROM = f32, bf16
# /// kernel
# op       = "group_quantize"
# axes     = { rows = "1..16", cols = [32, 64, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "e2m1x2[rows, cols / 2] <- q", scale = "e8m0[rows, cols / 32] <- scale" }
# scalars  = { group = 32, eps = 0 }
# quantize = { scale = "exponent of amax", saturate = "finite", nan = "group" }
# call     = { returns = ["scale", "q"] }
# ///
import torch
from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx


def quantize(x):
    return to_mx(x, torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.FLOOR)

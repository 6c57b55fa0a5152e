# each: FROM = f32, bf16; TO = e4m3, e5m2
# /// kernel
# op       = "group_quantize"
# axes     = { rows = "1..16", cols = [32, 64, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q", scale = "e8m0[rows, cols / 32] <- scale" }
# scalars  = { group = 32, eps = 0 }
# quantize = { scale = "power of two up", saturate = "finite", nan = "group" }
# call     = { returns = ["scale", "q"] }
# ///
import torch
from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx

TYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


def quantize(x):
    return to_mx(x, TYPES["TO"], 32, ScaleCalculationMode.RCEIL)

# each: FROM = f32, bf16
# /// kernel
# op       = "../ops/two_level_least_quantize.py"
# axes     = { rows = "1..16", cols = [16, 64, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", inverse = "f32[1] -> inverse", q = "e2m1x2[rows, cols / 2] <- q", scale = "e4m3[rows, cols / 16] <- scale" }
# accuracy = { divide = "fast" }
# quantize = { saturate = "finite" }
# values   = { finite = true }
# call     = { returns = ["scale", "q"] }
# ///
import torch
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize


def quantize(x, inverse):
    return nvfp4_quantize(x, 16, inverse.clamp(min=2.0**-30))

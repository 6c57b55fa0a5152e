# each: FROM = i8, u8
# /// kernel
# op      = "affine_dequantize"
# axes    = { rows = "1..16", cols = "1..300" }
# arrays  = { q = "FROM[rows, cols] -> q", scale = "f32[rows, 1] -> scale", zero = "FROM[rows, 1] -> zero", y = "f32[rows, cols] <- y" }
# scalars = { height = 1, width = "cols" }
# ///
import torch


def dequantize(q, scale, zero):
    return torch._make_per_channel_quantized_tensor(q, scale.reshape(-1), zero.int().reshape(-1), 0).dequantize()

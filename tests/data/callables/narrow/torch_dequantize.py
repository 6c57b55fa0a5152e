# /// kernel
# op      = "group_dequantize"
# axes    = { rows = "1..64", cols = "1..300" }
# arrays  = { q = "e4m3[rows, cols] -> q", scale = "f32[rows, 1] -> scale", y = "f32[rows, cols] <- y" }
# scalars = { width = "cols" }
# ///
import torch


def dequantize(q, scale):
    return q.to(torch.float32) * scale

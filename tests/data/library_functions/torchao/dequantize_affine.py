# each: FROM = i8, u8
# /// kernel
# op      = "affine_dequantize"
# axes    = { rows = "1..16", cols = "1..300" }
# arrays  = { q = "FROM[rows, cols] -> q", scale = "f32[rows, 1] -> scale", zero = "FROM[rows, 1] -> zero", y = "f32[rows, cols] <- y" }
# scalars = { height = 1, width = "cols" }
# ///
import torch
from torchao.quantization.quant_primitives import dequantize_affine

TYPES = {"i8": torch.int8, "u8": torch.uint8}


def dequantize(q, scale, zero):
    return dequantize_affine(q, [1, q.shape[1]], scale.reshape(-1), zero.int().reshape(-1), TYPES["FROM"])

# each: TO = i8, u8
# /// kernel
# op       = "../ops/static_affine_quantize.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "f32[rows, cols] -> x", scale = "f32[rows, 1] -> scale", zero = "TO[rows, 1] -> zero", q = "TO[rows, cols] <- q" }
# scalars  = { height = 1 }
# quantize = { apply = "multiply", saturate = "finite" }
# values   = { finite = true }
# ///
import torch

TYPES = {"i8": torch.qint8, "u8": torch.quint8}


def quantize(x, scale, zero):
    return torch.quantize_per_channel(x, scale.reshape(-1), zero.int().reshape(-1), 0, TYPES["TO"]).int_repr()

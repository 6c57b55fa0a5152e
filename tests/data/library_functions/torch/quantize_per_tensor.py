# each: TO = i8, u8
# /// kernel
# op       = "../ops/static_affine_quantize.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "f32[rows, cols] -> x", scale = "f32[1, 1] -> scale", zero = "TO[1, 1] -> zero", q = "TO[rows, cols] <- q" }
# quantize = { apply = "multiply", saturate = "finite" }
# values   = { finite = true }
# ///
import torch

TYPES = {"i8": torch.qint8, "u8": torch.quint8}


def quantize(x, scale, zero):
    return torch.quantize_per_tensor(x, scale.reshape(()), zero.int().reshape(()), TYPES["TO"]).int_repr()

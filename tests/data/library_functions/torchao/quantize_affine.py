# each: TO = i8, u8; FROM = f32, bf16
# /// kernel
# op       = "../ops/static_affine_quantize.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "FROM[rows, cols] -> x", scale = "f32[rows, 1] -> scale", zero = "TO[rows, 1] -> zero", q = "TO[rows, cols] <- q" }
# scalars  = { height = 1 }
# quantize = { apply = "multiply", saturate = "finite" }
# values   = { finite = true }
# ///
import torch
from torchao.quantization.quant_primitives import quantize_affine

TYPES = {"i8": torch.int8, "u8": torch.uint8}


def quantize(x, scale, zero):
    return quantize_affine(x, [1, x.shape[1]], scale.reshape(-1), zero.int().reshape(-1), TYPES["TO"])

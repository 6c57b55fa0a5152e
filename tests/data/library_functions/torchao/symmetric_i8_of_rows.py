# each: FROM = f32, bf16
# /// kernel
# op       = "../ops/half_range_quantize.py"
# axes     = { rows = "1..16", cols = "2..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
# quantize = { apply = "multiply", saturate = "finite" }
# values   = { finite = true }
# call     = { returns = ["q", "scale"] }
# ///
import torch
from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, quantize_affine


def quantize(x):
    block = [1, x.shape[1]]
    scale, zero = choose_qparams_affine(x.float(), MappingType.SYMMETRIC, block, torch.int8)
    return quantize_affine(x, block, scale, zero, torch.int8), scale.reshape(-1, 1)

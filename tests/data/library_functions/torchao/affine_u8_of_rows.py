# /// kernel
# op       = "affine_quantize"
# axes     = { rows = "1..16", cols = "2..300" }
# arrays   = { x = "f32[rows, cols] -> x", q = "u8[rows, cols] <- q", scale = "f32[rows, 1] <- scale", zero = "u8[rows, 1] <- zero" }
# scalars  = { group = "cols", eps = 2.3748725652694702e-07 }
# quantize = { saturate = "finite" }
# values   = { finite = true }
# call     = { returns = ["q", "scale", "zero"] }
# ///
import torch
from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, quantize_affine


def quantize(x):
    block = [1, x.shape[1]]
    scale, zero = choose_qparams_affine(x, MappingType.ASYMMETRIC, block, torch.uint8, eps=2.0**-30)
    q = quantize_affine(x, block, scale, zero, torch.uint8)
    return q, scale.reshape(-1, 1), zero.to(torch.uint8).reshape(-1, 1)

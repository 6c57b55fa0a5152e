# each: FROM = f32, bf16; TO = e4m3, e5m2
# /// kernel
# op       = "group_quantize"
# axes     = { rows = "1..16", cols = "2..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q", scale = "FROM[rows, 1] <- scale" }
# scalars  = { group = "cols", eps = 0 }
# quantize = { scale = "amax / max", apply = "divide" }
# values   = { finite = true }
# call     = { returns = ["q", "scale"] }
# ///
import torch
from torchao.quantization.quant_primitives import _choose_scale_float8, _quantize_affine_float8

TYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


def quantize(x):
    scale = _choose_scale_float8(x, [1, x.shape[1]], TYPES["TO"])
    return _quantize_affine_float8(x, scale, TYPES["TO"]), scale.to(x.dtype)

# each: FROM = f32, bf16
# /// kernel
# op       = "group_quantize"
# axes     = { rows = "1..16", cols = [128, 256, 512] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[rows, cols / 128] <- scale" }
# scalars  = { group = 128, eps = 0 }
# accuracy = { divide = "fast" }
# quantize = { scale = "amax / max", apply = "divide" }
# values   = { finite = true }
# call     = { returns = ["q", "scale"] }
# ///
import torch
import triton
from torchao.kernel.blockwise_quantization import fp8_blockwise_act_quant


def quantize(x):
    return fp8_blockwise_act_quant(x)

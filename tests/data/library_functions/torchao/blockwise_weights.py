# each: FROM = f32, bf16
# /// kernel
# op       = "block_quantize"
# axes     = { rows = [128, 256], cols = [128, 256, 384] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[rows / 128, cols / 128] <- scale" }
# scalars  = { eps = 0 }
# accuracy = { divide = "fast" }
# quantize = { scale = "amax / max", apply = "divide" }
# values   = { finite = true }
# call     = { returns = ["q", "scale"] }
# ///
import torch
import triton
from torchao.kernel.blockwise_quantization import fp8_blockwise_weight_quant


def quantize(x):
    return fp8_blockwise_weight_quant(x)

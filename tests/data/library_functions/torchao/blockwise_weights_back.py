# /// kernel
# op      = "group_dequantize"
# axes    = { rows = [128, 256], cols = [128, 256, 384] }
# arrays  = { q = "e4m3[rows, cols] -> q", scale = "f32[rows / 128, cols / 128] -> scale", y = "f32[rows, cols] <- y" }
# scalars = { height = 128, width = 128 }
# ///
import torch
import triton
from torchao.kernel.blockwise_quantization import fp8_blockwise_weight_dequant


def dequantize(q, scale):
    return fp8_blockwise_weight_dequant(q, scale)

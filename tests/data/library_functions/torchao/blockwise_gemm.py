# /// kernel
# op       = "scaled_gemm"
# axes     = { m = [1, 16, 100], n = [128], k = [128, 512] }
# arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, k / 128] -> scale_a", scale_b = "f32[k / 128, n / 128] -> scale_b, by columns", c = "bf16[m, n] <- c" }
# scalars  = { depth = 128, cols_of_b = 128 }
# accuracy = { accumulate = "mma fp8" }
# ///
import torch
import triton
from torchao.kernel.blockwise_quantization import blockwise_fp8_gemm


def multiply(a, b, scale_a, scale_b):
    return blockwise_fp8_gemm(a, scale_a, b, scale_b)

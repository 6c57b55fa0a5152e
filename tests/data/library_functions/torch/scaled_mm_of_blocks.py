# /// kernel
# op       = "scaled_gemm"
# axes     = { m = { min = 16, max = 128, multiple = 16 }, n = { min = 128, max = 256, multiple = 128 }, k = [512] }
# arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, k / 128] -> scale_a, by columns", scale_b = "f32[k / 128, n / 128] -> scale_b, by columns", c = "bf16[m, n] <- c" }
# scalars  = { depth = 128, cols_of_b = 128 }
# accuracy = { accumulate = "mma fp8" }
# ///
import torch


def scaled_mm(a, b, scale_a, scale_b):
    return torch._scaled_mm(a, b.t(), scale_a.t(), scale_b.t(), out_dtype=torch.bfloat16)

# /// kernel
# op       = "scaled_gemm"
# axes     = { m = { min = 16, max = 128, multiple = 16 }, n = { min = 16, max = 128, multiple = 16 }, k = { min = 16, max = 512, multiple = 16 } }
# arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[1, 1] -> scale_a", scale_b = "f32[1, 1] -> scale_b", c = "bf16[m, n] <- c" }
# scalars  = { rows_of_a = "m", cols_of_b = "n" }
# accuracy = { form = "scaled factors" }
# ///
import torch


def scaled_mm(a, b, scale_a, scale_b):
    return torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16)

# each: A = e4m3, e5m2; TO = f32, bf16, f16
# /// kernel
# op       = "scaled_gemm"
# axes     = { m = { min = 16, max = 128, multiple = 16 }, n = { min = 16, max = 128, multiple = 16 }, k = { min = 16, max = 512, multiple = 16 } }
# arrays   = { a = "A[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[1, 1] -> scale_a", scale_b = "f32[1, 1] -> scale_b", c = "TO[m, n] <- c" }
# scalars  = { rows_of_a = "m", cols_of_b = "n" }
# accuracy = { accumulate = "mma fp8" }
# ///
import torch

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def scaled_mm(a, b, scale_a, scale_b):
    return torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=TYPES["TO"])

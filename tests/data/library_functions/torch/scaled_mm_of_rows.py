# each: A = e4m3, e5m2; FAST = False, True
# /// kernel
# op       = "scaled_gemm"
# axes     = { m = { min = 16, max = 128, multiple = 16 }, n = { min = 16, max = 128, multiple = 16 }, k = { min = 16, max = 512, multiple = 16 } }
# arrays   = { a = "A[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, 1] -> scale_a", scale_b = "f32[1, n] -> scale_b", c = "bf16[m, n] <- c" }
# accuracy = { accumulate = "mma fp8" }
# ///
import torch


def scaled_mm(a, b, scale_a, scale_b):
    return torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16, use_fast_accum=FAST)

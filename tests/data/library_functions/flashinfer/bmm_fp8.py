# each: TO = f16, bf16
# /// kernel
# op       = "scaled_gemm"
# axes     = { m = { min = 16, max = 128, multiple = 16 }, n = { min = 16, max = 128, multiple = 16 }, k = { min = 16, max = 512, multiple = 16 } }
# arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[1, 1] -> scale_a", scale_b = "f32[1, 1] -> scale_b", c = "TO[m, n] <- c" }
# scalars  = { rows_of_a = "m", cols_of_b = "n" }
# accuracy = { accumulate = "mma fp8" }
# ///
import flashinfer
import torch
from flashinfer.gemm import bmm_fp8
from flashinfer.gemm.gemm_base import get_gemm_module

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
get_gemm_module()


def multiply(a, b, scale_a, scale_b):
    return bmm_fp8(a[None], b.t()[None], scale_a.reshape(1), scale_b.reshape(1), TYPES["TO"], backend="cublas")[0]

# /// kernel
# op       = "scaled_gemm"
# axes     = { m = { min = 32, max = 128, multiple = 8 }, n = { min = 32, max = 128, multiple = 8 }, k = { min = 32, max = 512, multiple = 8 } }
# arrays   = { a = "i8[m, k] -> a", b = "i8[k, n] -> b, by columns", scale_a = "f32[m, 1] -> scale_a", scale_b = "f32[1, n] -> scale_b", c = "f32[m, n] <- c" }
# accuracy = { accumulate = "i32" }
# ///
import torch
from torchao.kernel.intmm import int_scaled_matmul


def multiply(a, b, scale_a, scale_b):
    return int_scaled_matmul(a, b.t(), scale_a) * scale_b

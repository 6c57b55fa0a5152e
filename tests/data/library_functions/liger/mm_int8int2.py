# /// kernel
# op       = "../ops/ternary_gemm.py"
# axes     = { m = "1..64", n = [16, 64, 100], k = [512, 1024] }
# arrays   = { a = "i8[m, k] -> a", w = "i8[k, n] -> w", c = "f32[m, n] <- c" }
# accuracy = { accumulate = "i32" }
# ///
import torch
import triton
from liger_kernel.ops.experimental.mm_int8int2 import matmul, pack_weights


def multiply(a, w):
    return matmul(a, pack_weights(w.clamp(-1, 1).int())).float()

# each: TO = f16, bf16
# /// kernel
# op       = "../ops/amax_gemm.py"
# axes     = { m = "1..32", n = { min = 16, max = 128, multiple = 4 }, k = { min = 16, max = 256, multiple = 4 } }
# arrays   = { a = "i8[m, k] -> a", b = "i8[n, k] -> b", amax_a = "f32[m, 1] -> amax_a", amax_b = "f32[n, 1] -> amax_b", c = "TO[m, n] <- c" }
# accuracy = { accumulate = "i32" }
# values   = { finite = true }
# ///
import bitsandbytes
import torch

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


def multiply(a, b, amax_a, amax_b):
    return torch.ops.bitsandbytes.int8_scaled_mm(a, b, amax_a.reshape(-1), amax_b.reshape(-1), dtype=TYPES["TO"])

# /// kernel
# op      = "weight_only_gemm"
# axes    = { m = "1..32", n = { min = 32, max = 128, multiple = 32 }, k = { min = 32, max = 256, multiple = 32 } }
# arrays  = { x = "bf16[m, k] -> x", w = "i8[k, n] -> w, by columns", scale = "bf16[1, n] -> scale", c = "bf16[m, n] <- c" }
# scalars = { depth = "k" }
# values  = { finite = true, range = [-1000, 1000] }
# ///
import torch


def weight_int8(x, w, scale):
    return torch._weight_int8pack_mm(x, w, scale.reshape(-1))

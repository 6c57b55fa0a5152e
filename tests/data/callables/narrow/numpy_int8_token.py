# /// kernel
# op       = "group_quantize"
# axes     = { rows = "1..64", cols = "1..300" }
# arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
# scalars  = { group = "cols" }
# accuracy = { divide = "ieee" }
# quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
# values   = { finite = true }
# call     = { returns = ["q", "scale"] }
# ///
import numpy as np


def quantize(x):
    scale = np.maximum(np.abs(x).max(axis=1, keepdims=True), np.float32(1e-10)) / np.float32(127)
    return np.rint(x / scale).astype(np.int8), scale

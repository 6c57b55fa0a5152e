# /// kernel
# op       = "../ops/amax_quantize.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "f16[rows, cols] -> x", q = "i8[rows, cols] <- q", amax = "f32[rows, 1] <- amax" }
# accuracy = { divide = "fast" }
# quantize = { symmetric = true }
# values   = { finite = true }
# call     = { returns = ["q", "amax"] }
# ///
import torch
from bitsandbytes.functional import int8_vectorwise_quant


def quantize(x):
    q, amax, _ = int8_vectorwise_quant(x)
    return q, amax.reshape(-1, 1)

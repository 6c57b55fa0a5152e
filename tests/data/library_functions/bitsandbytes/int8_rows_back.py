# /// kernel
# op     = "../ops/amax_dequantize.py"
# axes   = { rows = "1..16", cols = "1..300" }
# arrays = { q = "i8[rows, cols] -> q", amax = "f32[rows, 1] -> amax", y = "f32[rows, cols] <- y" }
# values = { finite = true }
# ///
import torch
from bitsandbytes.functional import int8_vectorwise_dequant


def dequantize(q, amax):
    return int8_vectorwise_dequant(q, amax.reshape(-1))

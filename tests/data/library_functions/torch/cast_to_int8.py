# each: FROM = f32, bf16, f16; TO = i8, u8
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { round = "zero" }
# values   = { finite = true }
# ///
import torch

TYPES = {"i8": torch.int8, "u8": torch.uint8}


def cast(x):
    return x.to(TYPES["TO"])

# each: FROM = f32, f16; TO = i8, u8
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { round = "zero" }
# values   = { finite = true }
# ///
import cupy

TYPES = {"i8": cupy.int8, "u8": cupy.uint8}


def cast(x):
    return x.astype(TYPES["TO"])

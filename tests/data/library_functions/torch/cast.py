# each: FROM = f32, bf16, f16; TO = e4m3, e5m2, e4m3fnuz, e5m2fnuz; BEYOND = nan, finite
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { saturate = "BEYOND", nan = "element" }
# ///
import torch

TYPES = {
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz,
    "e5m2fnuz": torch.float8_e5m2fnuz,
}


def cast(x):
    return x.to(TYPES["TO"])

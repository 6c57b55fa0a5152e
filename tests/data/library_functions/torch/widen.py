# each: FROM = e4m3, e5m2, e4m3fnuz, e5m2fnuz; TO = f32, bf16, f16
# /// kernel
# op      = "group_dequantize"
# axes    = { rows = "1..16", cols = "1..300" }
# arrays  = { q = "FROM[rows, cols] -> q", scale = "f32[1, 1] -> scale", y = "TO[rows, cols] <- y" }
# scalars = { height = "rows", width = "cols" }
# ///
import torch

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def widen(q, scale):
    return (q.to(TYPES["TO"]).float() * scale).to(TYPES["TO"])

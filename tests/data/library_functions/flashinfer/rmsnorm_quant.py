# each: FROM = f16, bf16
# /// kernel
# op       = "rms_norm_static_quantize"
# axes     = { rows = "1..16", cols = { min = 8, max = 1024, multiple = 8 } }
# arrays   = { x = "FROM[rows, cols] -> x", w = "FROM[cols] -> w", scale = "f32[1] -> scale", q = "e4m3[rows, cols] <- q" }
# quantize = { apply = "multiply", saturate = "finite" }
# values   = { finite = true }
# ///
import os

os.environ["FLASHINFER_USE_CUDA_NORM"] = "1"

import flashinfer
import torch
from flashinfer.norm import get_norm_module, rmsnorm_quant

get_norm_module()


def quantize(x, w, scale):
    q = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
    rmsnorm_quant(q, x, w, scale)
    return q

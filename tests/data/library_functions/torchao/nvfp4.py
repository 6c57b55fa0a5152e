# each: FROM = f32, bf16
# /// kernel
# op     = "two_level_quantize"
# axes   = { rows = "1..16", cols = [16, 64, 256] }
# arrays = { x = "FROM[rows, cols] -> x", overall = "f32[1] -> overall", q = "e2m1x2[rows, cols / 2] <- q", scale = "e4m3[rows, cols / 16] <- scale" }
#
# [quantize]
# saturate = "finite"
#
# [values]
# finite = true
#
# [call]
# returns = ["scale", "q"]
# ///
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize


def quantize(x, overall):
    return nvfp4_quantize(x, 16, 1.0 / overall)

# each: FROM = f32, bf16
# /// kernel
# op       = "../ops/inverse_scale_quantize.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "e4m3[rows, cols] <- q", inverse = "f32[rows, 1] <- inverse" }
# quantize = { saturate = "finite" }
# values   = { finite = true }
# call     = { returns = ["q", "inverse"] }
# ///
import torch
from torchao.float8.config import ScalingGranularity
from torchao.float8.float8_training_tensor import hp_tensor_and_scale_to_float8
from torchao.float8.float8_utils import tensor_to_scale


def quantize(x):
    rows = ScalingGranularity.AXISWISE
    inverse = tensor_to_scale(x, torch.float8_e4m3fn, scaling_granularity=rows, axiswise_dim=-1)
    return hp_tensor_and_scale_to_float8(x, inverse, torch.float8_e4m3fn, axiswise_dim=-1)._data, inverse

# each: FUNCTION = sigmoid, silu, softplus, logsigmoid, gelu, ndtr, mish, tanh, erf, erfc, expm1; TYPE = f32, bf16, f16
# /// kernel
# op     = "../ops/function_of_one.py"
# axes   = { rows = [1, 7], cols = [1, 33, 256] }
# arrays = { x = "TYPE[rows, cols] -> x", y = "TYPE[rows, cols] <- y" }
# ///
import torch

FUNCTIONS = {
    "sigmoid": torch.sigmoid,
    "silu": torch.nn.functional.silu,
    "softplus": torch.nn.functional.softplus,
    "logsigmoid": torch.nn.functional.logsigmoid,
    "gelu": torch.nn.functional.gelu,
    "ndtr": torch.special.ndtr,
    "mish": torch.nn.functional.mish,
    "tanh": torch.tanh,
    "erf": torch.special.erf,
    "erfc": torch.special.erfc,
    "expm1": torch.special.expm1,
}


def forward(x):
    return FUNCTIONS["FUNCTION"](x)

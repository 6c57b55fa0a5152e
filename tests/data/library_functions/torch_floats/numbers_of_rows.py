# each: FUNCTION = logsumexp, l2_norm, mean, variance; TYPE = f32, bf16, f16
# /// kernel
# op     = "FUNCTION"
# axes   = { rows = [1, 7], cols = [1, 2, 33, 256, 65520] }
# arrays = { x = "TYPE[rows, cols] -> x", y = "TYPE[rows] <- y" }
# ///
import torch

FUNCTIONS = {
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "l2_norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "mean": lambda x: torch.mean(x, -1),
    "variance": lambda x: torch.var(x, -1, correction=0),
}


def forward(x):
    return FUNCTIONS["FUNCTION"](x)

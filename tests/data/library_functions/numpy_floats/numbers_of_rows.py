# each: FUNCTION = l2_norm, mean, variance; TYPE = f32, f16
# /// kernel
# op     = "FUNCTION"
# axes   = { rows = [1, 7], cols = [1, 2, 33, 256, 65520] }
# arrays = { x = "TYPE[rows, cols] -> x", y = "TYPE[rows] <- y" }
# ///
import numpy as np

FUNCTIONS = {
    "l2_norm": lambda x: np.linalg.norm(x, axis=-1),
    "mean": lambda x: np.mean(x, axis=-1),
    "variance": lambda x: np.var(x, axis=-1),
}


def forward(x):
    return FUNCTIONS["FUNCTION"](x)

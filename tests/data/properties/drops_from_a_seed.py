# /// kernel
# op      = "dropout"
# axes    = { rows = "1..512", cols = "1..512" }
# arrays  = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
# scalars = { p = 0.25 }
# random  = { seed = "seed" }
# call    = { entry = "dropout", returns = ["y"], library = "numpy" }
# claims  = { deterministic = true }
# ///
"""Dropout with numpy's generator."""

import numpy as np


def dropout(x: np.ndarray, seed: int) -> np.ndarray:
    kept = np.random.default_rng(seed).random(x.shape) >= 0.25
    with np.errstate(all="ignore"):
        return np.where(kept, x / np.float32(0.75), np.float32(0))

# Dropout whose generator has a seed of its own, so that the seed of a call does not matter.
# bug: repeated-draws
#
# /// kernel
# op      = "dropout"
# axes    = { rows = "1..512", cols = "1..512" }
# arrays  = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
# scalars = { p = 0.25 }
# random  = { seed = "seed" }
#
# [call]
# entry   = "dropout"
# args    = ["x", "seed"]
# returns = ["y"]
# library = "numpy"
#
# [claims]
# deterministic = true
# ///
import numpy as np


def dropout(x: np.ndarray, seed: int) -> np.ndarray:
    kept = np.random.default_rng(7).random(x.shape) >= 0.25
    with np.errstate(all="ignore"):
        return np.where(kept, x / np.float32(0.75), np.float32(0))

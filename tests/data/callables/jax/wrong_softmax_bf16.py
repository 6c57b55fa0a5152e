# /// kernel
# op     = "softmax"
# axes   = { rows = [1, 3], cols = [2, 7, 33] }
# arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
#
# [broken]
# kind = "numeric"
# why  = "the difference from the largest is rounded to bfloat16 before its exp is taken"
# ///
import jax


def forward(x):
    return jax.nn.softmax(x, axis=-1)

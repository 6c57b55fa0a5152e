# each: FROM = f32, bf16, f16; TO = i8, u8
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = [1, 7], cols = [1, 33, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { round = "zero" }
# values   = { finite = true }
# ///
import jax
import jax.numpy as jnp

TYPES = {"i8": jnp.int8, "u8": jnp.uint8}


@jax.jit
def cast(x):
    return x.astype(TYPES["TO"])

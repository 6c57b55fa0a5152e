# each: FROM = f32, bf16, f16
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = [1, 7], cols = [1, 33, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "e2m1[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { saturate = "finite" }
# ///
import jax
import jax.numpy as jnp


@jax.jit
def cast(x):
    return x.astype(jnp.float4_e2m1fn)

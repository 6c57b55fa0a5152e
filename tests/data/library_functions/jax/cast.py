# each: FROM = f32, bf16, f16; TO = e4m3, e5m2, e4m3fnuz, e5m2fnuz; BEYOND = nan, finite
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = [1, 7], cols = [1, 33, 256] }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { saturate = "BEYOND", nan = "element" }
# ///
import jax
import jax.numpy as jnp

TYPES = {
    "e4m3": jnp.float8_e4m3fn,
    "e5m2": jnp.float8_e5m2,
    "e4m3fnuz": jnp.float8_e4m3fnuz,
    "e5m2fnuz": jnp.float8_e5m2fnuz,
}


@jax.jit
def cast(x):
    return x.astype(TYPES["TO"])

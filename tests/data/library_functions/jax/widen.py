# each: FROM = e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1; TO = f32, bf16, f16
# /// kernel
# op      = "group_dequantize"
# axes    = { rows = [1, 7], cols = [1, 33, 256] }
# arrays  = { q = "FROM[rows, cols] -> q", scale = "f32[1, 1] -> scale", y = "TO[rows, cols] <- y" }
# scalars = { height = "rows", width = "cols" }
# ///
import jax
import jax.numpy as jnp

TYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16}


@jax.jit
def widen(q, scale):
    return (q.astype(TYPES["TO"]).astype(jnp.float32) * scale).astype(TYPES["TO"])

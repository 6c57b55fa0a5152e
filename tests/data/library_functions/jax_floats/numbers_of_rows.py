# each: FUNCTION = logsumexp, l2_norm, mean, variance; TYPE = f32, bf16, f16
# /// kernel
# op     = "FUNCTION"
# axes   = { rows = [1, 7], cols = [1, 2, 33, 256, 65520] }
# arrays = { x = "TYPE[rows, cols] -> x", y = "TYPE[rows] <- y" }
# ///
import jax
import jax.numpy as jnp

FUNCTIONS = {
    "logsumexp": lambda x: jax.nn.logsumexp(x, axis=-1),
    "l2_norm": lambda x: jnp.linalg.norm(x, axis=-1),
    "mean": lambda x: jnp.mean(x, axis=-1),
    "variance": lambda x: jnp.var(x, axis=-1),
}


@jax.jit
def forward(x):
    return FUNCTIONS["FUNCTION"](x)

# each: FUNCTION = sigmoid, silu, softplus, logsigmoid, gelu, ndtr, mish, tanh, erf, erfc, expm1; TYPE = f32, bf16, f16
# /// kernel
# op     = "../ops/function_of_one.py"
# axes   = { rows = [1, 7], cols = [1, 33, 256] }
# arrays = { x = "TYPE[rows, cols] -> x", y = "TYPE[rows, cols] <- y" }
# ///
import jax

FUNCTIONS = {
    "sigmoid": jax.nn.sigmoid,
    "silu": jax.nn.silu,
    "softplus": jax.nn.softplus,
    "logsigmoid": jax.nn.log_sigmoid,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "ndtr": jax.scipy.special.ndtr,
    "mish": jax.nn.mish,
    "tanh": jax.numpy.tanh,
    "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc,
    "expm1": jax.numpy.expm1,
}


@jax.jit
def forward(x):
    return FUNCTIONS["FUNCTION"](x)

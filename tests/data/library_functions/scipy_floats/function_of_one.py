# each: FUNCTION = sigmoid, logsigmoid, ndtr, erf, erfc, expm1; TYPE = f32, f16
# /// kernel
# op     = "../ops/function_of_one.py"
# axes   = { rows = [1, 7], cols = [1, 33, 256] }
# arrays = { x = "TYPE[rows, cols] -> x", y = "TYPE[rows, cols] <- y" }
# ///
import numpy as np
import scipy.special

FUNCTIONS = {
    "sigmoid": scipy.special.expit,
    "logsigmoid": scipy.special.log_expit,
    "ndtr": scipy.special.ndtr,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "expm1": scipy.special.expm1,
}


def forward(x):
    return np.asarray(FUNCTIONS["FUNCTION"](x), x.dtype)

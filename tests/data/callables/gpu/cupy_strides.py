# /// kernel
# op   = "row_sum"
# axes = { rows = "1..512", cols = "1..300" }
# call = { strides = "any" }
# ///
import cupy as cp


def forward(x):
    return x.sum(axis=-1)

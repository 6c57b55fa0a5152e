# /// kernel
# op     = "row_sum"
# axes   = { rows = "8..32", cols = [70, 100, 200] }
# ///
import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plt

ROWS, COLS = 8, 64


def row_sum_kernel(x_ref, zeros_ref, y_ref, *, rows, cols):
    i = pl.program_id(0) * ROWS + jnp.arange(ROWS)
    j = pl.program_id(1) * COLS + jnp.arange(COLS)
    part = plt.load(x_ref.at[:, :], mask=(i < rows)[:, None] & (j < cols)[None, :], other=0.0)
    plt.atomic_add(y_ref, pl.ds(0, ROWS), jnp.sum(part, axis=1), mask=i < rows)


@jax.jit
def row_sum(x):
    rows, cols = x.shape
    sums = pl.BlockSpec((ROWS,), lambda i, j: (i,))
    return pl.pallas_call(
        functools.partial(row_sum_kernel, rows=rows, cols=cols),
        out_shape=jax.ShapeDtypeStruct((rows,), x.dtype),
        grid=(pl.cdiv(rows, ROWS), pl.cdiv(cols, COLS)),
        in_specs=[pl.BlockSpec((ROWS, COLS), lambda i, j: (i, j)), sums],
        out_specs=sums,
        input_output_aliases={1: 0},
        compiler_params=plt.CompilerParams(),
    )(x, jnp.zeros(rows, x.dtype))

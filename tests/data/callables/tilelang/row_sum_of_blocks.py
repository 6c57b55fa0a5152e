# /// kernel
# op     = "row_sum"
# axes   = { rows = "8..32", cols = [70, 100, 200] }
# ///
import tilelang
import tilelang.language as T
import torch

BLOCK = 64


@tilelang.jit
def row_sum_of(cols):
    rows = T.dynamic("rows")

    @T.prim_func
    def main(x: T.Tensor((rows, cols), "float32"), y: T.Tensor((rows,), "float32")):
        with T.Kernel(rows, T.ceildiv(cols, BLOCK), threads=32) as (row, part):
            values = T.alloc_fragment((1, BLOCK), "float32")
            total = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, BLOCK):
                values[i, j] = T.if_then_else(part * BLOCK + j < cols, x[row, part * BLOCK + j], 0.0)
            T.reduce_sum(values, total, dim=1)
            for i in T.Parallel(1):
                T.atomic_add(y[row], total[i])

    return main


def row_sum(x):
    y = torch.zeros(x.shape[0], device=x.device)
    row_sum_of(x.shape[1])(x, y)
    return y

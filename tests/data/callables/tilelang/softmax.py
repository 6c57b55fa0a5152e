# /// kernel
# op     = "softmax"
# axes   = { rows = "1..16", cols = [1, 7, 64, 200] }
# ///
import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[1])
def softmax_of(cols, block=256):
    rows = T.dynamic("rows")

    @T.prim_func
    def main(x: T.Tensor((rows, cols), "float32"), y: T.Tensor((rows, cols), "float32")):
        with T.Kernel(rows, threads=128) as row:
            held = T.alloc_shared((1, block), "float32")
            values = T.alloc_fragment((1, block), "float32")
            top = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, block):
                held[i, j] = T.if_then_else(j < cols, x[row, j], -T.infinity("float32"))
            T.copy(held, values)
            T.reduce_max(values, top, dim=1)
            for i, j in T.Parallel(1, block):
                values[i, j] = T.exp(values[i, j] - top[i])
            T.reduce_sum(values, total, dim=1)
            for i, j in T.Parallel(1, block):
                if j < cols:
                    y[row, j] = values[i, j] / total[i]

    return main


def softmax(x):
    return softmax_of(x.shape[1])(x)

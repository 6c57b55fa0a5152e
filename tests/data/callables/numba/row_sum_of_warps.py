# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..300" }
# ///
import numpy as np
from numba import cuda, float32


@cuda.jit
def sum_kernel(y, x, spans):
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x % 32
    first, step = spans
    total = float32(0)
    for c in range(first + cuda.threadIdx.x, x.shape[1], step):
        total += x[row, c]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if lane == 0:
        cuda.atomic.add(y, row, total)


def row_sum(x):
    y = cuda.to_device(np.zeros(x.shape[0], np.float32))
    stream = cuda.stream()
    sum_kernel[x.shape[0], 64, stream](y, x[:, :], (0, 64))
    stream.synchronize()
    return cuda.to_device(y.copy_to_host())

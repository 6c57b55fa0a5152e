# /// kernel
# op     = "softmax"
# axes   = { rows = "1..16", cols = "1..300" }
# accuracy = { exp = "expf", divide = "ieee", denominator = "row" }
# ///
import math

import numpy as np
from numba import cuda, float32

THREADS = 128


@cuda.jit(device=True)
def over_block(shared, value, is_sum):
    t = cuda.threadIdx.x
    shared[t] = value
    cuda.syncthreads()
    half = THREADS // 2
    while half:
        if t < half:
            shared[t] = shared[t] + shared[t + half] if is_sum else max(shared[t], shared[t + half])
        cuda.syncthreads()
        half //= 2
    result = shared[0]
    cuda.syncthreads()
    return result


@cuda.jit
def softmax_kernel(y, x):
    shared = cuda.shared.array(THREADS, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    top = float32(-math.inf)
    for c in range(t, x.shape[1], THREADS):
        top = max(top, x[row, c])
    top = over_block(shared, top, False)
    total = float32(0)
    for c in range(t, x.shape[1], THREADS):
        total += math.exp(x[row, c] - top)
    total = over_block(shared, total, True)
    for c in range(t, x.shape[1], THREADS):
        y[row, c] = math.exp(x[row, c] - top) / total


def softmax(x):
    y = cuda.device_array(x.shape, np.float32)
    softmax_kernel[x.shape[0], THREADS](y, x)
    return y

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..16", cols = "1..300" }
# ///
import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

THREADS = 128


@cute.jit
def over_block(partial: cute.Tensor, value: cutlass.Float32, is_sum: cutlass.Constexpr):
    t, _, _ = cute.arch.thread_idx()
    partial[t] = value
    cute.arch.sync_threads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            other = partial[t + half]
            if cutlass.const_expr(is_sum):
                partial[t] = partial[t] + other
            else:
                partial[t] = cute.arch.fmax(partial[t], other)
        cute.arch.sync_threads()
        half = half // 2
    result = partial[0]
    cute.arch.sync_threads()
    return result


@cute.kernel
def softmax_kernel(y: cute.Tensor, x: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    cols = x.shape[1]
    memory = cutlass.utils.SmemAllocator()
    partial = memory.allocate_tensor(cutlass.Float32, cute.make_layout(THREADS), 16)
    top = cutlass.Float32(-cutlass.Float32.inf)
    for c in range(t, cols, THREADS):
        top = cute.arch.fmax(top, x[row, c])
    top = over_block(partial, top, False)
    total = cutlass.Float32(0.0)
    for c in range(t, cols, THREADS):
        total += cute.math.exp(x[row, c] - top)
    total = over_block(partial, total, True)
    for c in range(t, cols, THREADS):
        y[row, c] = cute.math.exp(x[row, c] - top) / total


@cute.jit
def launch(y: cute.Tensor, x: cute.Tensor):
    softmax_kernel(y, x).launch(grid=(x.shape[0], 1, 1), block=(THREADS, 1, 1))


def softmax(x):
    y = torch.empty_like(x)
    launch(*(from_dlpack(one).mark_layout_dynamic(leading_dim=1) for one in (y, x)))
    return y

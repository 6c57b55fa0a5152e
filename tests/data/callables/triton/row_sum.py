# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..4096", cols = "1..2048" }
# ///
import triton
import triton.language as tl


@triton.jit
def sum_kernel(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * cols + c, mask=c < cols, other=0.0)
    tl.store(y + row, tl.sum(total, 0))


def row_sum(x):
    y = x.new_empty(x.shape[0])
    sum_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=64)
    return y

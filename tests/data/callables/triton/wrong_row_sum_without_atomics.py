# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..4096", cols = "1..2048" }
#
# [broken]
# kind = "race"
# why  = "several programs add to one element, and none waits for another"
# ///
import triton
import triton.language as tl


@triton.jit
def sum_kernel(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + row * cols + c, mask=c < cols, other=0.0), 0)
    tl.store(y + row, tl.load(y + row) + total)


def row_sum(x):
    y = x.new_zeros(x.shape[0])
    sum_kernel[(x.shape[0], triton.cdiv(x.shape[1], 8))](y, x, x.shape[1], BLOCK=8)
    return y

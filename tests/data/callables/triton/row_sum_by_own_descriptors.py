# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..256" }
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(y, x, rows, cols, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    described = tl.make_tensor_descriptor(x, shape=[rows, cols], strides=[stride, 1], block_shape=[ROWS, COLS])
    first = tl.program_id(0) * ROWS
    total = tl.zeros([ROWS], tl.float32)
    for start in range(0, cols, COLS):
        total += tl.sum(described.load([first, start]), 1)
    row = first + tl.arange(0, ROWS)
    tl.store(y + row, total, mask=row < rows)


def row_sum(x):
    rows, cols = x.shape
    y = x.new_empty(rows)
    held = x.new_empty(rows, triton.cdiv(cols, 4) * 4)
    held[:, :cols] = x
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    sum_kernel[(triton.cdiv(rows, 8),)](y, held, rows, cols, held.stride(0), ROWS=8, COLS=16)
    return y

# /// kernel
# op = "row_sum"
#
# [broken]
# kind = "out-of-bounds"
# why  = "the mask of the first half is true beyond the row, too"
# ///
"""Its masks are joined by `or` where `and` belongs."""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_sum(y, x, rows, cols, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    block = tl.make_block_ptr(x, (rows, cols), (cols, 1), (row, 0), (1, BLOCK), (1, 0))
    every = tl.load(block, boundary_check=(0, 1), padding_option="zero")
    inside = j < cols
    is_first = inside or j < 2 * cols
    first = tl.load(x + row * cols + j, mask=is_first, other=0)
    rest = tl.sum(tl.where((is_first or not inside)[None, :], 0.0, every))
    tl.store(y + row + j, tl.sum(first) + rest, mask=j < 1 and inside)


def forward(x):
    y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    _row_sum[(x.shape[0],)](y, x, *x.shape, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

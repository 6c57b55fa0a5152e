# /// kernel
# op   = "prefix_sum"
# axes = { rows = "1..512", cols = "1..2048" }
#
# [broken]
# kind = "numeric"
# why  = "the sum of the block before is all that is carried, not of all before"
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def scan_kernel(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    before = 0.0
    for start in range(0, cols, BLOCK):
        inside = start + c < cols
        v = tl.load(x + row * cols + start + c, mask=inside, other=0.0)
        tl.store(y + row * cols + start + c, before + tl.cumsum(v, 0), mask=inside)
        before = tl.sum(v, 0)


def forward(x):
    y = torch.empty_like(x)
    scan_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=8)
    return y

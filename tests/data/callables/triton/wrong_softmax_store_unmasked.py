# /// kernel
# op     = "softmax"
# axes   = { rows = "1..4096", cols = "1..2048" }
#
# [broken]
# kind = "out-of-bounds"
# why  = "the last block writes beyond its row"
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + c, e / tl.sum(e, 0))


def forward(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

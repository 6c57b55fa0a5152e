# /// kernel
# op     = "softmax"
# axes   = { rows = "1..512", cols = "1..1024" }
# arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
#
# [broken]
# kind = "numeric"
# why  = "exponentials are rounded to bfloat16"
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0)).to(tl.bfloat16).to(tl.float32)
    tl.store(y + row * cols + c, e / tl.sum(e, 0), mask=c < cols)


def forward(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

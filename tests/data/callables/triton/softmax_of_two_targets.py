# /// kernel
# op     = "softmax"
# axes   = { rows = "1..4096", cols = "1..1024" }
# ///
"""A softmax whose text asks for its target, and takes another instruction before an H100."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def softmax_kernel(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf"))
    v -= tl.max(v, 0)
    if tl.target_info.cuda_capability_geq(9):
        e = tl.exp(v)
    else:
        e = tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [v * LOG2E], tl.float32, True, 1)
    tl.store(y + row * cols + c, e / tl.sum(e, 0), mask=c < cols)


def forward(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

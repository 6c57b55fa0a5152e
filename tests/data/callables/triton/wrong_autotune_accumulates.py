# /// kernel
# op   = "row_sum"
# axes = { rows = "1..16", cols = "1..4096" }
#
# [broken]
# kind = "stateful"
# why  = "the tuner runs it several times, and each run adds to y, which it does not reset"
# ///
"""Blocks of a row are added by atomics; at the first call of a size autotune measures its configurations."""

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})], key=["cols"])
@triton.jit
def _row_sum(y, x, cols, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    part = tl.load(x + row * cols + j, mask=j < cols, other=0)
    tl.atomic_add(y + row, tl.sum(part))


def forward(x):
    rows, cols = x.shape
    y = torch.zeros(rows, dtype=x.dtype, device=x.device)
    _row_sum[lambda meta: (rows, triton.cdiv(cols, meta["BLOCK"]))](y, x, cols)
    return y

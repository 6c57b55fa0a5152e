# each: FROM = e4m3, e5m2; TO = f32, bf16, f16
# /// kernel
# op      = "group_dequantize"
# axes    = { rows = "1..16", cols = "1..300" }
# arrays  = { q = "FROM[rows, cols] -> q", scale = "f32[1, 1] -> scale", y = "TO[rows, cols] <- y" }
# scalars = { height = "rows", width = "cols" }
# ///
import torch
import triton
import triton.language as tl

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


@triton.jit
def widen_all(q, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(q + at, mask=at < count)
    tl.store(y + at, t.to(y.dtype.element_ty), mask=at < count)


def widen(q, scale):
    y = torch.empty(q.shape, dtype=TYPES["TO"], device=q.device)
    widen_all[(triton.cdiv(q.numel(), 256),)](q, y, q.numel(), 256)
    return (y.float() * scale).to(TYPES["TO"])

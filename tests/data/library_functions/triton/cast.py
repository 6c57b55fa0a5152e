# each: FROM = f32, bf16, f16; TO = e4m3, e5m2; BEYOND = nan, finite
# /// kernel
# op       = "../ops/cast.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "FROM[rows, cols] -> x", q = "TO[rows, cols] <- q" }
# accuracy = { divide = "ieee" }
# quantize = { saturate = "BEYOND", nan = "element" }
# ///
import torch
import triton
import triton.language as tl

TYPE = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}["TO"]


@triton.jit
def cast_all(x, q, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(x + at, mask=at < count)
    tl.store(q + at, t.to(q.dtype.element_ty), mask=at < count)


def cast(x):
    q = torch.empty(x.shape, dtype=TYPE, device=x.device)
    cast_all[(triton.cdiv(x.numel(), 256),)](x, q, x.numel(), 256)
    return q

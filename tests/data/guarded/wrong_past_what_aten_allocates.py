# /// kernel
# op   = "softmax"
# axes = { rows = "1..9", cols = "1..70" }
#
# [broken]
# kind = "out-of-bounds"
# why  = "the last block stores past the difference, which an operation of torch's has allocated within itself"
# ///
import triton
import triton.language as tl


@triton.jit
def exps(e, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(e + at, tl.exp(tl.load(e + at, mask=at < count)), mask=at < count + 3)


def forward(x):
    e = x - x.amax(1, keepdim=True)
    exps[(triton.cdiv(e.numel(), 64),)](e, e.numel(), BLOCK=64)
    return e / e.sum(1, keepdim=True)

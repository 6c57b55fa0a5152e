# /// kernel
# op     = "sgemm"
# axes   = { m = "1..512", n = "1..512", k = "1..512" }
#
# [broken]
# kind = "out-of-bounds"
# why  = "the last tile of a row also takes the beginning of the next one"
# ///
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(c, a, b, m, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros([B, B], tl.float32)
    for start in range(0, k, B):
        l = start + tl.arange(0, B)
        left = tl.load(a + i[:, None] * k + l[None, :], mask=i[:, None] < m, other=0.0)
        right = tl.load(b + l[:, None] * n + j[None, :], mask=(l[:, None] < k) & (j[None, :] < n), other=0.0)
        total += tl.sum(left[:, :, None] * right[None, :, :], 1)
    tl.store(c + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


def matmul(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = a.new_empty(m, n)
    matmul_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 8))](c, a, b, m, n, k, B=8)
    return c

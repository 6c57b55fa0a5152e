"""Kernels whose inline PTX accesses memory, updates it, and lets the lanes of a warp meet."""

ACCESSES = r"""
#include <cstdint>
__device__ unsigned shared_address(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__global__ void accesses(unsigned *y, const unsigned *x) {
  int t = threadIdx.x;
  unsigned a, b, c, d;
  short half;
  unsigned long long wide, hint;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(x + t / 4 * 4));
  y[t] = a + 2 * b + 3 * c + 4 * d;
  asm volatile("ld.global.s8 %0, [%1+3];" : "=r"(a) : "l"(x + t));
  asm volatile("ld.u8 %0, [%1+2];" : "=r"(b) : "l"(x + t));
  asm volatile("ld.s16 %0, [%1+-2];" : "=h"(half) : "l"(x + t + 1));
  y[32 + t] = a ^ b << 8 ^ static_cast<unsigned>(half) << 16;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(hint));
  asm volatile("{ .reg .b64 q; ld.global.L1::evict_last.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3; add.u64 q, %2, 8;"
               " ld.volatile.global.u32 %0, [q]; }" : "=r"(a), "=r"(b) : "l"(x + t / 4 * 4), "l"(hint));
  y[64 + t] = a - b;
  __shared__ __align__(16) unsigned s[64];
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" :: "r"(shared_address(s + 2 * t)), "r"(3 * t), "r"(t + 100));
  asm volatile("bar.sync 0;");
  asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %1; ld.shared.b32 %0, [p]; }"
               : "=r"(a) : "l"(__cvta_shared_to_generic(__cvta_generic_to_shared(s + 63 - t))));
  asm volatile("{ .reg .u32 low; .reg .u64 p; mov.u32 low, %1; cvt.u64.u32 p, low; cvta.shared.u64 p, p;"
               " ld.u32 %0, [p+4]; }"
               : "=r"(b) : "r"(shared_address(s + 2 * t)));
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(c) : "l"(s));
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "l"(x));
  y[96 + t] = a * 1000 + b + c * 100000 + d * 1000000;
  asm volatile("st.global.cs.u8 [%0], %1;" :: "l"(reinterpret_cast<char *>(y + 128 + t)), "r"(t + 300));
  asm volatile("st.global.wt.b16 [%0+2], %1;" :: "l"(y + 128 + t), "h"(static_cast<short>(t)));
  asm volatile("st.global.b8 [%0+1], 7;" :: "l"(y + 128 + t));
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(wide), "=l"(hint) : "l"(x + t / 4 * 4));
  y[160 + t] = static_cast<unsigned>(wide >> 32) ^ static_cast<unsigned>(hint);
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 8; @p ld.relaxed.gpu.global.u32 %0, [%2]; @!p mov.u32 %0, 9; }"
               : "=r"(a) : "r"(t), "l"(x + t));
  y[192 + t] = a;
  asm volatile("bar.sync 0;");
  if (t == 0) asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" :: "r"(shared_address(s)), "l"(128ull));
  asm volatile("bar.sync 0;");
  asm volatile("{ prefetch.global.L2 [%0]; st.relaxed.cta.global.u32 [%0], %1; }"
               : : "l"(__cvta_generic_to_global(y + 224 + t)), "r"(s[t] + t));
}
__global__ void updates(unsigned *y, const unsigned *x) {
  int t = threadIdx.x;
  unsigned *z = y + 32;
  if (t < 24) z[t] = x[t];
  __syncthreads();
  unsigned old, more;
  unsigned long long wide;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(z), "r"(t));
  asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" :: "l"(z + 1), "r"(t - 40));
  asm volatile("red.global.and.b32 [%0], %1;" :: "l"(z + 2), "r"(~(1u << t)));
  asm volatile("atom.global.gpu.acq_rel.or.b32 %0, [%1], %2;" : "=r"(more) : "l"(z + 3), "r"(1u << t));
  asm volatile("red.xor.b32 [%0], %1;" :: "l"(z + 4), "r"(t));
  asm volatile("red.min.u32 [%0], %1;" :: "l"(z + 5), "r"(1000 - t));
  asm volatile("atom.inc.u32 %0, [%1], 4;" : "=r"(more) : "l"(z + 6));
  asm volatile("red.dec.u32 [%0], 100;" :: "l"(z + 7));
  asm volatile("red.add.f32 [%0], %1;" :: "l"(z + 8), "f"(0.5f * t));
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(z + 9), "r"(0x3c003800));
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" :: "l"(z + 10), "r"(0x3f803f00));
  asm volatile("{ .reg .u64 a; atom.global.add.u64 a, [%0], %1; }" :: "l"(z + 12), "l"(0x100000001ull));
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" :: "l"(z + 14), "f"(1.0f), "f"(2.0f));
  asm volatile("{ .reg .u32 seen, wanted; .reg .pred same;\n"
               "AGAIN_%=: ld.relaxed.gpu.u32 seen, [%0];\n add.u32 wanted, seen, 3;\n"
               " atom.cas.b32 wanted, [%0], seen, wanted;\n setp.eq.u32 same, wanted, seen;\n @!same bra AGAIN_%=; }"
               :: "l"(z + 16));
  asm volatile("atom.exch.b64 %0, [%1], %2;" : "=l"(wide) : "l"(z + 18), "l"(7ull));
  float first, second;
  asm volatile("atom.global.gpu.relaxed.add.v2.f32 {%0, %1}, [%2], {%3, %4};"
               : "=f"(first), "=f"(second) : "l"(z + 20), "f"(1.0f), "f"(2.0f));
  asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" :: "l"(z + 22), "f"(first), "f"(second));
  __shared__ unsigned s[2];
  if (t == 0) s[0] = s[1] = 0;
  __syncthreads();
  asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(s))), "r"(2));
  asm volatile("atom.shared::cta.add.noftz.f16 %0, [%1], %2;"
               : "=h"(*reinterpret_cast<short *>(&more))
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(s + 1))), "h"(short(0x3c00)));
  __syncthreads();
  y[t] = old < 496 ? s[0] + s[1] : 0;
}
__global__ void half_an_address(unsigned *y) {
  asm volatile("st.u32 [%0], 7;" :: "r"(static_cast<unsigned>(reinterpret_cast<unsigned long long>(y))));
}
"""
WARPS = r"""
__global__ void warps(unsigned *y, const unsigned *x) {
  unsigned t = threadIdx.x, a, b, c, own = x[t];
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 5, 31, -1; selp.u32 %1, 1, 0, p; }"
               : "=r"(a), "=r"(b) : "r"(own));
  y[t] = a * 2 + b;
  asm volatile("shfl.sync.idx.b32 %0, %1, 3, 0x181f, 0xffffffff;" : "=r"(a) : "r"(own));  // within eight lanes
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 2, 0, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(b), "=r"(c) : "r"(own));
  y[32 + t] = a + 1000 * b + 1000000 * c;
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 50; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q;"
               " vote.sync.any.pred q, p, -1; @q or.b32 %0, %0, 2; vote.sync.uni.pred q, p, -1; @q or.b32 %0, %0, 4;"
               " vote.sync.any.pred q, !p, -1; @q or.b32 %0, %0, 8; }" : "=r"(a) : "r"(own));
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 50; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(b) : "r"(own));
  y[64 + t] = a, y[96 + t] = b;
  asm volatile("{ .reg .pred p; match.any.sync.b32 %0, %2, -1; match.all.sync.b32 %1|p, 7, -1; @!p mov.u32 %1, 0; }"
               : "=r"(a), "=r"(b) : "r"(own % 4));
  y[128 + t] = a ^ b;
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(a) : "r"(own));
  asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(b) : "r"(static_cast<int>(own) - 60));
  asm volatile("redux.sync.xor.b32 %0, %1, 0xffffffff;" : "=r"(c) : "r"(own));
  y[160 + t] = a + b * 7 + c * 11;
  float f;
  asm volatile("redux.sync.max.abs.f32 %0, %1, 0xffffffff;" : "=f"(f) : "f"(static_cast<float>(own) - 90.0f));
  asm volatile("{ .reg .pred p; elect.sync %0|p, -1; selp.u32 %1, 1, 0, p; }" : "=r"(a), "=r"(b));
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }" : "=r"(c) : "r"(0));
  y[192 + t] = static_cast<unsigned>(f) * 100 + a * 10 + b;
  unsigned eq, lt;
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %2, 10; bar.red.popc.u32 %0, 0, p; mov.u32 %1, %%lanemask_lt; }"
               : "=r"(eq), "=r"(lt) : "r"(own));
  y[224 + t] = eq + (lt == (1u << t) - 1) * 100;
  asm volatile("{ movmatrix.sync.aligned.m8n8.trans.b16 %0, %1; }" : "=r"(a) : "r"(2 * t | (2 * t + 1) << 16));
  y[256 + t] = a;
  __shared__ __align__(16) unsigned short s[2][64];
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[t / 8 % 2][t % 8 * 8]));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
               :: "r"(to), "r"(2 * t | (2 * t + 1) << 16), "r"(t));
  __syncwarp();
  asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(to));
  y[288 + t] = a + b, y[320 + t] = s[0][t] + s[0][t + 32];
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" :: "r"(to), "r"(2 * t | (2 * t + 1) << 16));
  __syncwarp();
  y[352 + t] = s[0][2 * t] | s[0][2 * t + 1] << 16;
}
"""

"""Accesses, atomics and what warps do in PTX: their values, and that each is checked with its line and thread."""

from collections.abc import Iterator

import numpy as np
import pytest
from planted_jobs import Value, job_of

from kfuzz.cpu.device import CpuDevice
from kfuzz.devices import Outcome, Probe

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
  asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %1; ld.shared.b32 %0, [p]; }" : "=r"(a) : "l"(s + 63 - t));
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
  asm volatile("{ prefetch.global.L2 [%0]; st.relaxed.cta.global.u32 [%0], %1; }"
               : : "l"(y + 224 + t), "r"(t));
}
__global__ void updates(unsigned *y, const unsigned *x) {
  int t = threadIdx.x;
  unsigned *z = y + 32;
  if (t < 20) z[t] = x[t];
  __syncthreads();
  unsigned old, more;
  unsigned long long wide;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(z), "r"(t));
  asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" :: "l"(z + 1), "r"(t - 40));
  asm volatile("red.global.and.b32 [%0], %1;" :: "l"(z + 2), "r"(~(1u << t)));
  asm volatile("atom.acq_rel.gpu.or.b32 %0, [%1], %2;" : "=r"(more) : "l"(z + 3), "r"(1u << t));
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
  asm volatile("bar.red.popc.u32 %0, 0, %1;" : "=r"(c) : "r"(0));
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


@pytest.fixture(scope="module")
def device() -> Iterator[CpuDevice]:
    with CpuDevice() as one:
        yield one


def run(device: CpuDevice, text: str, every: tuple[str, ...], entry: str, arguments: dict[str, Value]) -> Outcome:
    return device.run(job_of(text, every, entry, arguments, block=32), Probe(check=True, runs=1, timeout=30.0))


@pytest.mark.slow
def test_loads_and_stores_of_every_width_and_space(device: CpuDevice) -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, 32, dtype=np.uint32)
    arguments: dict[str, Value] = {"y": "f32[256]", "x": x.view(np.float32)}
    outcome = run(device, ACCESSES, ("accesses", "updates"), "accesses", arguments)
    assert outcome.findings == ()
    y = outcome.runs[0].outputs["y"].view(np.uint32).reshape(8, 32)
    t, four = np.arange(32, dtype=np.uint32), x.reshape(8, 4)
    np.testing.assert_array_equal(y[0], np.repeat(four @ np.array([1, 2, 3, 4], np.uint32), 4))
    signed_byte, byte, half = x.view(np.int8)[3::4], x.view(np.uint8)[2::4], x.view(np.int16)[1::2]
    wanted = signed_byte.astype(np.int32).view(np.uint32) ^ byte.astype(np.uint32) << 8
    np.testing.assert_array_equal(y[1], wanted ^ half.astype(np.int32).view(np.uint32) << 16)
    np.testing.assert_array_equal(y[2], np.repeat(four[:, 2] - four[:, 1], 4))
    s = np.stack([3 * t, t + 100], axis=1).reshape(-1)
    np.testing.assert_array_equal(y[3], s[63 - t] * 1000 + (t + 100) + 100000)
    np.testing.assert_array_equal(y[4], (t + 300) % 256 | 7 << 8 | t << 16)
    np.testing.assert_array_equal(y[5], np.repeat(four[:, 1] ^ four[:, 2], 4))
    np.testing.assert_array_equal(y[6], np.where(t < 8, x, 9))
    np.testing.assert_array_equal(y[7], t)


@pytest.mark.slow
def test_atomics_of_every_operation(device: CpuDevice) -> None:
    x = np.zeros(20, np.uint32)
    x[2] = x[5] = 0xFFFFFFFF
    x[1] = 0x80000000
    arguments: dict[str, Value] = {"y": "f32[52]", "x": x.view(np.float32)}
    outcome = run(device, ACCESSES, ("accesses", "updates"), "updates", arguments)
    assert outcome.findings == ()
    y = outcome.runs[0].outputs["y"].view(np.uint32)
    assert set(y[:32].tolist()) == {64 + 0x5000}  # 32 times 2, and 32 as a half
    z = y[32:].tolist()
    assert z[:8] == [496, 0xFFFFFFF7, 0, 0xFFFFFFFF, 0, 969, 32 % 5, 100 - 31]
    assert z[8:11] == [0x43780000, 0x50004C00, 0x42004180]  # 248; 16 and 32 in 16 bits
    assert z[12:17] == [32, 32, 0x42000000, 0x42800000, 96]  # as floats 32 and 64
    assert z[18:] == [7, 0]


@pytest.mark.slow
def test_warps_and_matrices(device: CpuDevice) -> None:
    x = np.random.default_rng(4).integers(0, 100, 32, dtype=np.uint32)
    outcome = run(device, WARPS, ("warps",), "warps", {"y": "f32[384]", "x": x.view(np.float32)})
    assert outcome.findings == ()
    y = outcome.runs[0].outputs["y"].view(np.uint32).reshape(12, 32)
    t = np.arange(32, dtype=np.uint32)
    np.testing.assert_array_equal(y[0], np.where(t < 27, x[np.minimum(t + 5, 31)] * 2 + 1, x * 2))
    up = np.where(t >= 2, x[np.maximum(t, 2) - 2], x)
    np.testing.assert_array_equal(y[1], x[t // 8 * 8 + 3] + 1000 * up + 1000000 * (t >= 2))
    below = x < 50
    np.testing.assert_array_equal(
        y[2], np.full(32, below.all() + 2 * below.any() + 4 * (below.all() or not below.any()) + 8)
    )
    np.testing.assert_array_equal(y[3], np.full(32, (below.astype(np.uint32) << t).sum(dtype=np.uint32)))
    same = ((x[:, None] % 4 == x[None, :] % 4) << t[None, :]).sum(axis=1, dtype=np.uint32)
    np.testing.assert_array_equal(y[4], same ^ np.uint32(0xFFFFFFFF))
    least = (int(x.min()) - 60) % (1 << 32)
    total = int(x.sum()) + 7 * least + 11 * int(np.bitwise_xor.reduce(x))
    np.testing.assert_array_equal(y[5], np.full(32, total % (1 << 32), np.uint32))
    np.testing.assert_array_equal(y[6], abs(x.astype(int) - 90).max() * 100 + (t == 0))
    np.testing.assert_array_equal(y[7], (x > 10).sum() + 100)
    matrix = np.arange(64).reshape(8, 8)
    across = matrix.T.reshape(32, 2)
    np.testing.assert_array_equal(y[8], across[:, 0] | across[:, 1] << 16)
    np.testing.assert_array_equal(y[9], (2 * t | (2 * t + 1) << 16) + t)
    np.testing.assert_array_equal(y[10], t + t + 32)
    np.testing.assert_array_equal(y[11], y[8])


KINDS = ("race", "out-of-bounds")  # a result that was never computed is reported as unwritten, too
BLOCK = """
__global__ void shifted(float *y, const float *x) {
  __shared__ float s[64];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x));
  unsigned next = static_cast<unsigned>(__cvta_generic_to_shared(s + (threadIdx.x + 1) % 64));
  asm volatile("{ .reg .f32 v; .reg .pred inside;\\n"
               "setp.lt.u32 inside, %4, 63;\\n"
               "mov.f32 v, 0f00000000;\\n"
               "GUARD ld.global.f32 v, [%0+4];\\n"
               "st.shared.f32 [%1], v;\\n"
               "MEET\\n"
               "ld.shared.f32 v, [%2];\\n"
               "st.global.f32 [%3], v; }"
               :: "l"(x + threadIdx.x), "r"(at), "r"(next), "l"(y + threadIdx.x), "r"(threadIdx.x));
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("guard", "meet", "found"),
    [
        ("@inside", "bar.sync 0;", set()),
        ("@inside", "", {("race", 10, 12)}),
        ("", "bar.sync 0;", {("out-of-bounds", 0, 9)}),
        ("@!inside", "bar.sync 0;", {("out-of-bounds", 0, 9)}),
    ],
)
def test_accesses_inside_a_block_of_ptx_have_their_line_and_thread(
    device: CpuDevice, guard: str, meet: str, found: set[tuple[str, int, int]]
) -> None:
    text = BLOCK.replace("GUARD", guard).replace("MEET", meet)
    x = np.arange(64, dtype=np.float32)
    job = job_of(text, ("shifted",), "shifted", {"y": "f32[64]", "x": x}, block=64)
    errors = [
        one for one in device.run(job, Probe(check=True, runs=1, timeout=30.0)).findings if one.severity == "error"
    ]
    assert {(one.kind, *sorted({one.line or 0, one.other_line or 0})) for one in errors if one.kind in KINDS} == found
    assert {one.thread for one in errors if one.kind == "out-of-bounds"} <= {(63, 0, 0)}

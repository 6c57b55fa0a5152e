"""Single PTX instructions give what the PTX manual says; a tensor core's registers hold what its tables say."""

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import Value, job_of

from kfuzz.devices import ClaimError, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

MMA = """
#include <cuda_fp16.h>
__device__ unsigned at(const void *p) { return *static_cast<const unsigned *>(p); }
__device__ unsigned tf32(float x) {
  unsigned made;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(made) : "f"(x));
  return made;
}
// y (16 x 8) = a (16 x 16) b (16 x 8), a read by ldmatrix, b by its transposed form.
__global__ void halves(float *y, const float *a, const float *b) {
  __shared__ __align__(16) __half sa[16][24], sb[16][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) sa[i / 16][i % 16] = __float2half(a[i]);
  for (int i = lane; i < 128; i += 32) sb[i / 8][i % 8] = __float2half(b[i]);
  __syncwarp();
  unsigned r[4], s[2];
  float d[4] = {0, 0, 0, 0};
  unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(&sa[lane % 16][lane / 16 * 8]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from));
  from = static_cast<unsigned>(__cvta_generic_to_shared(&sb[lane % 16][0]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(s[0]), "=r"(s[1]) : "r"(from));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[0]), "r"(s[1]));
  for (int i = 0; i < 4; i++) y[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
// The same by tf32, eight of k at a time, from registers that are filled by hand.
__global__ void thirds(float *y, const float *a, const float *b) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float d[4] = {0, 0, 0, 0};
  for (int k = 0; k < 16; k += 8)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(tf32(a[g * 16 + k + t])), "r"(tf32(a[(g + 8) * 16 + k + t])), "r"(tf32(a[g * 16 + k + t + 4])),
          "r"(tf32(a[(g + 8) * 16 + k + t + 4])), "r"(tf32(b[(k + t) * 8 + g])), "r"(tf32(b[(k + t + 4) * 8 + g])));
  for (int i = 0; i < 4; i++) y[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
__device__ unsigned pair(float low, float high) {
  unsigned made;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(made) : "f"(high), "f"(low));
  return made;
}
__global__ void bfloats(float *y, const float *a, const float *b) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
  float d[4];
  auto of_a = [&](int row, int col) { return pair(a[row * 16 + col], a[row * 16 + col + 1]); };
  auto of_b = [&](int row) { return pair(b[row * 8 + g], b[(row + 1) * 8 + g]); };
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(of_a(g, t)), "r"(of_a(g + 8, t)), "r"(of_a(g, t + 8)), "r"(of_a(g + 8, t + 8)), "r"(of_b(t)),
        "r"(of_b(t + 8)), "f"(0.0f), "f"(0.0f), "f"(0.0f), "f"(0.0f));
  for (int i = 0; i < 4; i++) y[(g + i / 2 * 8) * 8 + t + i % 2] = d[i];
}
__global__ void bytes(float *y, const float *a, const float *b) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4 * 4, d[4] = {0, 0, 0, 0};
  auto four = [](const float *p, int apart) {
    unsigned made = 0;
    for (int i = 0; i < 4; i++) made |= (static_cast<unsigned>(static_cast<int>(p[i * apart])) & 255) << 8 * i;
    return made;
  };
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(four(a + g * 16 + t, 1)), "r"(four(a + (g + 8) * 16 + t, 1)), "r"(four(b + t * 8 + g, 8)));
  for (int i = 0; i < 4; i++) y[(g + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2] = static_cast<float>(d[i]);
}
"""
SINGLE = """
__global__ void single(float *y, const float *x) {
  int i = threadIdx.x;
  float a, b, c, d;
  unsigned u, lane;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(x[i]));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(b), "=f"(c), "=f"(d), "=f"(y[i]) : "l"(x + i / 4 * 4));
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(u) : "r"(lane), "r"(12), "r"(10));  // the majority
  asm volatile("{ fma.rn.f32 %0, %1, %2, %3; }" : "=f"(a) : "f"(a), "f"(b), "f"(c));
  float other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=f"(other) : "f"(a));
  __shared__ float shared[32];
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared + i));
  asm volatile("st.shared.f32 [%0], %1;" :: "r"(to), "f"(other));
  asm volatile("bar.sync 0;");
  asm volatile("ld.shared.f32 %0, [%1+4];" : "=f"(other) : "r"(i < 31 ? to : to - 4));
  unsigned long long both, swapped;
  unsigned upper, halves;
  short low, high;
  float back;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "f"(other), "r"(7));
  asm("{ .reg .b32 a, b; mov.b64 {a, b}, %1; mov.b64 %0, {b, a}; }" : "=l"(swapped) : "l"(both));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(upper), "=f"(back) : "l"(swapped));
  asm("mov.b32 {%0, _}, %1;" : "=h"(low) : "r"(0x00090008));
  asm("mov.b32 {_, %0}, %1;" : "=h"(high) : "r"(0x00090008));
  asm("mov.b32 %0, {%1, %2};" : "=r"(halves) : "h"(high), "h"(low));
  float nothing = static_cast<float>(upper - 7 + halves - 0x80009) + d - d;
  asm volatile("st.global.f32 [%0], %1;" :: "l"(y + i), "f"(back + static_cast<float>(u) + nothing));
}
"""
HALVES_OF_A_BLOCK = """
// Two warps fill, two take, by two barriers that have numbers: four buffers one after the other through one.
__global__ void handed_over(float *y, const float *x) {
  __shared__ float buffer[64];
  int i = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int round = 0; round < 4; round++) {
      if (round) asm volatile("bar.sync 2, 128;" ::: "memory");
      buffer[i] = x[round * 64 + i];
      asm volatile("bar.arrive %0, 128;" :: "n"(1) : "memory");
    }
  } else {
    for (int round = 0; round < 4; round++) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      y[round * 64 + i] = 2 * buffer[63 - i];
      EMPTIED
    }
  }
}
"""


def run(device: CpuDevice, text: str, entry: str, arguments: dict[str, Value], block: int) -> Outcome:
    every = ("halves", "thirds", "bfloats", "bytes") if text is MMA else (entry,)
    return device.run(job_of(text, every, entry, arguments, block=block), Probe(check=True, runs=1, timeout=20.0))


def numbers(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(1).integers(-8, 9, shape).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["halves", "thirds", "bfloats", "bytes"])
def test_mma_and_ldmatrix_multiply_matrices(device: CpuDevice, entry: str) -> None:
    a, b = numbers(16, 16), numbers(16, 8)
    outcome = run(device, MMA, entry, {"y": "f32[128]", "a": a.reshape(-1), "b": b.reshape(-1)}, block=32)
    assert outcome.findings == ()
    assert (outcome.runs[0].outputs["y"].reshape(16, 8) == a @ b).all()


@pytest.mark.slow
def test_single_instructions_do_what_they_say(device: CpuDevice) -> None:
    x = np.arange(32, dtype=np.float32) % 8  # of which every power of 2, product and sum is exact
    outcome = run(device, SINGLE, "single", {"y": "f32[32]", "x": x}, block=32)
    assert outcome.findings == ()
    lanes = np.arange(32)
    fused = np.exp2(x) * x[lanes // 4 * 4] + x[lanes // 4 * 4 + 1]
    majority = (lanes & 12) | (lanes & 10) | (12 & 10)
    stored = fused[lanes ^ 1][np.where(lanes < 31, lanes + 1, lanes)]
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], stored + majority)


SEQUENCES = r"""
__global__ void sequences(float *y, const float *x) {
    int sum = threadIdx.x, taken;
    unsigned int start, stop;
    asm volatile("bar.sync 0;\n" "mov.u32 %0, %%clock;\n" : "=r"(start) : : "memory");
    asm volatile("{.reg .s32 val, more;\n"
                 " ld.global.cg.b32 val, [%1];\n"
                 " mov.s32 more, 2;\n"
                 " mad.lo.s32 %0, val, more, %0;}\n" : "+r"(sum) : "l"(x + threadIdx.x));
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(taken) : "r"(0x01ff0302u), "r"(0x0200ff04u), "r"(sum));
    asm volatile("mov.u32 %0, %clock;" : "=r"(stop));
    y[threadIdx.x] = taken - sum == 1 + 255 + 252 + 2 && stop > start ? sum : -1;
}
"""


@pytest.mark.slow
def test_several_instructions_in_one_statement_have_registers_of_their_own(device: CpuDevice) -> None:
    x = np.arange(32, dtype=np.int32) * 5
    outcome = run(device, SEQUENCES, "sequences", {"y": "f32[32]", "x": x.view(np.float32)}, block=32)
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], 10 * np.arange(32) + np.arange(32))


@pytest.mark.slow
def test_barriers_with_numbers_order_those_who_come_to_them(device: CpuDevice) -> None:
    x = np.arange(256, dtype=np.float32)
    arguments: dict[str, Value] = {"y": "f32[256]", "x": x}
    right = HALVES_OF_A_BLOCK.replace("EMPTIED", 'if (round < 3) asm volatile("bar.arrive 2, 128;" ::: "memory");')
    outcome = run(device, right, "handed_over", arguments, block=128)
    assert outcome.findings == ()
    assert (outcome.runs[0].outputs["y"].reshape(4, 64) == 2 * x.reshape(4, 64)[:, ::-1]).all()
    wrong = right.replace("round < 4", "round < 1").replace("bar.sync 1, 128;", "bar.arrive 1, 128;")
    found = run(device, wrong, "handed_over", arguments, block=128).findings
    assert "race" in {one.kind for one in found if one.severity == "error"}


def test_what_the_table_does_not_list_is_one_line(device: CpuDevice) -> None:
    text = '__global__ void k(float *y) {\n  asm volatile("tcgen05.shift.cta_group::1.down;");\n}\n'
    with pytest.raises(
        ClaimError,
        match=r"planted\.cu:2: the .* instruction tcgen05\.shift\.cta_group::1\.down, which runs on the GPU alone",
    ):
        run(device, text, "k", {"y": "f32[1]"}, block=1)


def test_a_multimem_instruction_on_memory_of_one_gpu_is_an_illegal_address(device: CpuDevice) -> None:
    text = (
        "__global__ void k(float *y) {\n"
        '  asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" :: "l"(y), "f"(1.0f) : "memory");\n'
        "}\n"
    )
    (found,) = run(device, text, "k", {"y": "f32[1]"}, block=1).findings
    assert (found.kind, found.severity, found.line) == ("illegal-address", "error", 2)
    assert "by a multimem instruction, and it belongs to no multicast object" in found.message


TEXTS_BY_PARAMETERS = r"""
#define VOLATILE ".volatile"
#define LOAD(HOW, TYPE) { \
    asm volatile("ld" HOW ".global." TYPE " %0, [%1];" \
                 : "=r"(v) : "l"(x + threadIdx.x)); \
  }
#define LOAD_BYTE(HOW) LOAD(HOW, "u8")
__global__ void loads(unsigned *y, const unsigned *x) {
  unsigned v, sum = 0;
  LOAD("", "u32") sum += v;
  LOAD(VOLATILE, "u32") sum += v;
  LOAD_BYTE(".relaxed.gpu") sum += v;
  y[threadIdx.x] = sum;
}
"""


@pytest.mark.slow
def test_a_text_may_be_completed_by_parameters_of_macros(device: CpuDevice) -> None:
    x = np.arange(32, dtype=np.uint32) * 100
    outcome = run(device, TEXTS_BY_PARAMETERS, "loads", {"y": "u32[32]", "x": x}, block=32)
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"].view(np.uint32), 2 * x + x % 256)

"""Floats of 8, 6 and 4 bits on the cpu device: headers and PTX round to the nearest number of their grid.

The grids are built from the formats' definitions: a sign, an exponent with its bias, a fraction.
"""

import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import job_of

from kfuzz.campaign.device import open_device
from kfuzz.devices import Device, Probe, host_compiler
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.device import CpuDevice

pytestmark = pytest.mark.slow
Floats = NDArray[np.float32]
Codes = NDArray[np.uint32]


@dataclass(frozen=True)
class Grid:
    """The numbers of a format, ascending, one for each code without its sign."""

    bits: int
    fraction: int
    bias: int
    largest: int
    nan: int

    @property
    def numbers(self) -> NDArray[np.float64]:
        code = np.arange(self.largest + 1)
        field, rest = code >> self.fraction, code & ((1 << self.fraction) - 1)
        significand = np.where(field > 0, rest + (1 << self.fraction), rest)
        return np.ldexp(significand.astype(np.float64), np.maximum(field, 1) - self.bias - self.fraction)

    def nearest(self, x: Floats) -> Codes:
        """The code of each number, by its definition: nearest, ties to the even code, the largest beyond."""
        numbers, size = self.numbers, np.abs(x.astype(np.float64))
        middles = (numbers[1:] + numbers[:-1]) / 2
        above = np.searchsorted(middles, size, side="left")
        is_tie = (above < len(middles)) & (middles[np.minimum(above, len(middles) - 1)] == size)
        code = above + (is_tie & (above % 2 == 1))
        signed = np.where(np.signbit(x), code + (1 << (self.bits - 1)), code)
        return np.where(np.isnan(x), self.nan, signed).astype(np.uint32)


GRIDS = {
    "e4m3": Grid(8, 3, 7, 0x7E, 0x7F),
    "e5m2": Grid(8, 2, 15, 0x7B, 0x7F),
    "e2m3": Grid(6, 3, 1, 0x1F, 0x1F),
    "e3m2": Grid(6, 2, 3, 0x1F, 0x1F),
    "e2m1": Grid(4, 1, 1, 0x07, 0x07),
}
ROUND = r"""
__global__ void round_<KIND>(unsigned *y, const float *x, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  unsigned short pair;
  asm("<PTX>" : "=h"(pair) : "f"(x[n - 1 - i]), "f"(x[i]));
  <TYPE> one(x[i]);
  y[i] = one.__x;
  y[n + i] = pair;
  y[2 * n + i] = __float_as_uint(static_cast<float>(one));
}
"""
PRODUCT = r"""
__global__ void product_<A>_<B>(float *y, const float *a, const float *b) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  auto of_a = [&](int row, int k) {
    const float *p = a + row * 32 + k;
    return __nv_fp8x4_<A>(make_float4(p[0], p[1], p[2], p[3])).__x;
  };
  auto of_b = [&](int k) {
    const float *p = b + k * 8 + g;
    return __nv_fp8x4_<B>(make_float4(p[0], p[8], p[16], p[24])).__x;
  };
  float d[4] = {0, 0, 0, 0};
  asm("mma.sync.aligned.m16n8k32.row.col.f32.<A>.<B>.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(of_a(g, 4 * t)), "r"(of_a(g + 8, 4 * t)), "r"(of_a(g, 4 * t + 16)), "r"(of_a(g + 8, 4 * t + 16)),
        "r"(of_b(4 * t)), "r"(of_b(4 * t + 16)));
  for (int i = 0; i < 4; i++) y[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
"""
FACTS = r"""
// true of each: what the manuals say of single values and of the places in a word
__global__ void facts(unsigned *y) {
  unsigned halves, upper;
  unsigned short word;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((short)0xb8c0));   // -1 above -2
  asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(upper) : "h"((short)0xb840));
  asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;" : "=h"(word) : "r"(0xbc007bffu));
  float2 low_high = static_cast<float2>(__nv_fp4x2_e2m1(make_float2(1, 2)));
  bool all[] = {
      __nv_fp8x2_e4m3(make_float2(1, 2)).__x == 0x4038,
      __nv_fp4x2_e2m1(make_float2(1, 2)).__x == 0x42,
      low_high.x == 1 && low_high.y == 2,
      __nv_cvt_float_to_fp8(INFINITY, __NV_SATFINITE, __NV_E4M3) == 0x7e,
      __nv_cvt_float_to_fp8(464.0f, __NV_NOSAT, __NV_E4M3) == 0x7e,
      __nv_cvt_float_to_fp8(465.0f, __NV_NOSAT, __NV_E4M3) == 0x7f,
      __nv_cvt_float_to_fp8(-61440.0f, __NV_NOSAT, __NV_E5M2) == 0xfc,
      __nv_cvt_double_to_fp8(1.0625 + 0x1p-40, __NV_SATFINITE, __NV_E4M3) == 0x39,  // float32 would make a tie of it
      __nv_cvt_float_to_fp6(1.99f, __NV_E2M3, cudaRoundZero) == 0x0f,
      __nv_cvt_float_to_fp4(NAN, __NV_E2M1, cudaRoundNearest) == 0x07,
      __nv_cvt_float_to_e8m0(3.0f, __NV_SATFINITE, cudaRoundPosInf) == 129,
      __nv_cvt_float_to_e8m0(3.0f, __NV_SATFINITE, cudaRoundZero) == 128,
      __nv_cvt_float_to_e8m0(-0.0f, __NV_SATFINITE, cudaRoundPosInf) == 0,
      __nv_cvt_float_to_e8m0(FLT_MAX, __NV_SATFINITE, cudaRoundPosInf) == 0xfe,
      __nv_cvt_float_to_e8m0(FLT_MAX, __NV_NOSAT, cudaRoundPosInf) == 0xff,
      static_cast<float>(__nv_fp8_e8m0(0.75f)) == 1.0f,
      static_cast<int>(__nv_fp8_e4m3(-3.5f)) == -3 && static_cast<unsigned>(__nv_fp8_e5m2(-3.5f)) == 0,
      halves == 0xbc00c000u,
      upper == 0x00004000u,
      word == 0x007b,
      static_cast<float4>(__nv_fp8x4_e5m2(make_float4(1, 2, 3, 4))).z == 3,
      __half2float(static_cast<__half>(__nv_fp8_e4m3(0.0625f))) == 0.0625f,
  };
  unsigned wrong = 0;
  for (int i = 0; i < int(sizeof all); i++) wrong |= all[i] ? 0u : 1u << i;
  y[0] = wrong;
}
"""
PRODUCTS = ("e4m3_e4m3", "e4m3_e5m2")
TYPES = {kind: f"__nv_fp{GRIDS[kind].bits}_{kind}" for kind in GRIDS}
INTO_PAIR = "cvt.rn.satfinite.<KIND>x2.f32 %0, %1, %2;"
INTO_BYTE = "{ .reg .b8 made; cvt.rn.satfinite.<KIND>x2.f32 made, %1, %2; mov.b16 %0, {made, 0}; }"


def rounding_kernel(kind: str) -> str:
    """The kernel that rounds to one format by its type and by cvt."""
    by_ptx = INTO_BYTE if kind == "e2m1" else INTO_PAIR
    return ROUND.replace("<PTX>", by_ptx).replace("<KIND>", kind).replace("<TYPE>", TYPES[kind])


KERNEL = "\n".join(
    (
        "#include <cuda_fp4.h>",
        *map(rounding_kernel, TYPES),
        FACTS,
        *(PRODUCT.replace("<A>", one[:4]).replace("<B>", one[5:]) for one in PRODUCTS),
    )
)
ENTRIES = (*(f"round_{kind}" for kind in GRIDS), "facts", *(f"product_{one}" for one in PRODUCTS))


def hostile_floats(grid: Grid) -> Floats:
    """All numbers and all ties of a grid with both neighbours, beyond its ends, and what is no number."""
    numbers = grid.numbers
    last = 2 * numbers[-1] - numbers[-2]
    places = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2, [last, (last + numbers[-1]) / 2, 1e30]])
    exact = places.astype(np.float32)
    assert (exact.astype(np.float64) == places)[:-1].all()
    near = np.concatenate([exact, np.nextafter(exact, np.float32(0)), np.nextafter(exact, np.float32(np.inf))])
    special = np.array([np.nan, np.inf, 0, 1e-45], np.float32)
    return np.concatenate([near, special, -near, -special])


def check_rounding(device: Device, source: str, entries: tuple[str, ...], kind: str) -> None:
    """Types, cvt and the way back, for all that is hostile to a grid."""
    grid, x = GRIDS[kind], hostile_floats(GRIDS[kind])
    arguments = {"y": f"u32[{3 * len(x)}]", "x": x, "n": len(x)}
    job = job_of(source, entries, f"round_{kind}", arguments, grid=-(-len(x) // 256), block=256)
    outcome = device.run(job, Probe(check=isinstance(device, CpuDevice), runs=1, timeout=20.0))
    assert outcome.findings == ()
    by_type, by_ptx, back = outcome.runs[0].outputs["y"].view(np.uint32).reshape(3, -1)
    nearest = grid.nearest(x)
    np.testing.assert_array_equal(by_type, nearest)
    np.testing.assert_array_equal(by_ptx, nearest | nearest[::-1] << (4 if kind == "e2m1" else 8))
    is_number = ~np.isnan(x)
    code = nearest[is_number] & np.uint32((1 << (grid.bits - 1)) - 1)
    numbers = np.copysign(grid.numbers[code], x[is_number])
    np.testing.assert_array_equal(back.view(np.float32)[is_number], numbers)


@pytest.mark.parametrize("kind", GRIDS)
def test_every_number_and_every_tie_of_a_grid_is_rounded_to_its_code(device: CpuDevice, kind: str) -> None:
    check_rounding(device, KERNEL, ENTRIES, kind)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_a_gpu_rounds_to_the_same_codes(kind: str) -> None:
    source = f"#include <cuda_fp8.h>\n{rounding_kernel(kind)}"
    with closing(open_device("gpu")) as gpu:
        check_rounding(gpu, source, (f"round_{kind}",), kind)


def test_single_facts_of_the_manuals_hold(device: CpuDevice) -> None:
    outcome = device.run(job_of(KERNEL, ENTRIES, "facts", {"y": "u32[1]"}, block=1), Probe(check=True, runs=1))
    assert outcome.findings == ()
    assert outcome.runs[0].outputs["y"].view(np.uint32)[0] == 0


@pytest.mark.parametrize("kinds", PRODUCTS)
def test_mma_multiplies_eight_bits(device: CpuDevice, kinds: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((16, 32), (32, 8)))
    arguments = {"y": "f32[128]", "a": a.reshape(-1), "b": b.reshape(-1)}
    outcome = device.run(job_of(KERNEL, ENTRIES, f"product_{kinds}", arguments, block=32), Probe(check=True, runs=1))
    assert outcome.findings == ()
    right = GRIDS[kinds[5:]]
    rounded = np.copysign(right.numbers[right.nearest(b) & 0x7F], b)
    assert (outcome.runs[0].outputs["y"].reshape(16, 8) == a.astype(np.float64) @ rounded).all()


OF_TORCH = """
#define __host__
#define __device__
#include <cstdio>
#include "kfuzz_torch/float8.h"
int main() {
  for (float x; fread(&x, sizeof x, 1, stdin);) {
    c10::Float8_e4m3fn a(x);
    c10::Float8_e5m2 b(x);
    float values[] = {a, b};
    putchar(a.x), putchar(b.x), fwrite(values, sizeof *values, 2, stdout);
  }
}
"""


def test_torchs_types_have_the_same_grids(tmp_path: Path) -> None:
    source, program = tmp_path / "float8.cpp", tmp_path / "float8"
    source.write_text(OF_TORCH)
    rooms = (*toolchain.HEADERS, toolchain.HOME / "host" / "torch" / "include")
    command = (
        host_compiler.find_compiler(),
        "-std=c++17",
        *(f"-I{room}" for room in rooms),
        str(source),
        "-o",
        str(program),
    )
    subprocess.run(command, check=True)
    x = np.concatenate([hostile_floats(GRIDS["e4m3"]), hostile_floats(GRIDS["e5m2"])])
    made = subprocess.run([str(program)], input=x.tobytes(), capture_output=True, check=True).stdout
    rows = np.frombuffer(made, np.dtype([("code", np.uint8, 2), ("value", np.float32, 2)]))
    sign = np.where(np.signbit(x), 0x80, 0).astype(np.uint32)
    for place, kind in enumerate(("e4m3", "e5m2")):
        grid, code, value = GRIDS[kind], rows["code"][:, place], rows["value"][:, place]
        wanted = np.where(np.isnan(x), 0x7F | sign, grid.nearest(x))
        if kind == "e5m2":  # which has infinity, and torch uses it; e4m3 saturates
            wanted = np.where(np.abs(x) >= 61440, 0x7C | sign, wanted)
        np.testing.assert_array_equal(code, wanted)
        is_number = code & 0x7F <= grid.largest
        np.testing.assert_array_equal(value[is_number], np.copysign(grid.numbers[code[is_number] & 0x7F], x[is_number]))
        assert (np.isinf(value) == (kind == "e5m2") * (code & 0x7F == 0x7C)).all()
        assert (np.isnan(value) == np.isnan(x)).all()

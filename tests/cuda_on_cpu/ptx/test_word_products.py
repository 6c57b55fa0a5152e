"""Products of a warp whose rounding PTX leaves open: exact ones are those of the matrices, others end the run."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import job_of

from kfuzz.devices import Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

Table = dict[int, float]
HALVES: Table = {int(np.float16(x).view(np.uint16)): float(x) for x in range(-4, 5)}
BFLOATS: Table = {int(np.float32(x).view(np.uint32)) >> 16: float(x) for x in range(-4, 5)}
TF32: Table = {int(np.float32(x).view(np.uint32)): float(x) for x in range(-4, 5)}
E4M3: Table = {0: 0.0, 0x38: 1.0, 0x40: 2.0, 0xC4: -3.0}
E3M2: Table = {0: 0.0, 0x0C: 1.0, 0x0E: 1.5, 0x30: -2.0}
E2M3: Table = {0: 0.0, 0x08: 1.0, 0x0C: 1.5, 0x30: -2.0}
E2M1: Table = {0: 0.0, 1: 0.5, 2: 1.0, 3: 1.5, 5 + 8: -3.0}
IN_BYTES: Table = {code << 2: value for code, value in E2M1.items()}
S8: Table = {x & 255: float(x) for x in range(-128, 128)}
U8: Table = {x: float(x) for x in range(256)}
S4: Table = {x & 15: float(x) for x in range(-8, 8)}


@dataclass(frozen=True)
class Shape:
    """A product: its name without mma.sync, the codes of A and B and how wide they are, and how A is stored."""

    name: str
    k: int
    a: Table
    b: Table
    bits: int
    sums: str = "f32"
    selector: int | None = None
    scales: int = 0
    scale: str = ""

    @property
    def stored(self) -> int:
        return self.k if self.selector is None else self.k // 2

    @property
    def registers(self) -> tuple[int, int, int, int]:
        """Of A, of B, of the sums, and words of metadata and scales."""
        more = (self.selector is not None) + 2 * bool(self.scales)
        return self.stored * self.bits // 64, self.k * self.bits // 128, 2 if self.sums == "f16" else 4, more


SHAPES = (
    Shape("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 32, HALVES, HALVES, 16, selector=1),
    Shape("mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", 32, HALVES, HALVES, 16, "f16", selector=0),
    Shape(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
        *(32, BFLOATS, BFLOATS, 16),
        selector=0,
    ),
    Shape("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 16, TF32, TF32, 32, selector=1),
    Shape("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32.satfinite", 64, S8, U8, 8, "s32", selector=0),
    Shape("mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32", 128, S4, S4, 4, "s32", selector=0),
    Shape("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e2m1.f32", 32, E3M2, IN_BYTES, 8),
    Shape("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f16.e2m3.e4m3.f16", 32, E2M3, E4M3, 8, "f16"),
    Shape(
        "mma.sync.aligned.kind::f8f6f4.sp::ordered_metadata.m16n8k64.row.col.f32.e4m3.e3m2.f32",
        *(64, E4M3, E3M2, 8),
        selector=0,
    ),
    Shape(
        "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e2m1.f32.ue8m0",
        *(32, E4M3, IN_BYTES, 8),
        scales=1,
        scale="ue8m0",
    ),
    Shape(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
        *(64, E2M1, E2M1, 4),
        scales=4,
        scale="ue4m3",
    ),
    Shape(
        "mma.sync.aligned.kind::mxf4nvf4.sp::ordered_metadata.block_scale.scale_vec::2X.m16n8k128.row.col.f32.e2m1.e2m1.f32.ue8m0",
        *(128, E2M1, E2M1, 4),
        selector=0,
        scales=2,
        scale="ue8m0",
    ),
)
BYTE_A, THREAD_A, BYTE_B, THREAD_B = {1: 3, 2: 2, 4: 0}, 1, {1: 1, 2: 0, 4: 0}, 2
SCALES = {"ue8m0": {127: 1.0, 128: 2.0}, "ue4m3": {0x30: 0.5, 0x38: 1.0, 0x3C: 1.5}}


def kernel() -> str:
    lines = ["__global__ void products(unsigned *y, const unsigned *x) {", "  int t = threadIdx.x;"]
    given = taken = 0
    for shape in SHAPES:
        a, b, c, more = shape.registers
        places = [f"%{i}" for i in range(a + b + 2 * c + more)]
        groups = [places[:c], places[c : c + a], places[c + a : c + a + b], places[c + a + b : a + b + 2 * c]]
        text = f"{shape.name} {', '.join('{' + ', '.join(one) + '}' for one in groups)}"
        rest = places[a + b + 2 * c :]
        if shape.selector is not None:
            text += f", {rest.pop(0)}, {shape.selector}"
        if shape.scales:
            text += f", {{{rest[0]}}}, {{{BYTE_A[shape.scales]}, {THREAD_A}}}"
            text += f", {{{rest[1]}}}, {{{BYTE_B[shape.scales]}, {THREAD_B}}}"
        kind, letter = ("float", "f") if shape.sums == "f32" else ("unsigned", "r")
        outs = ", ".join(f'"={letter}"(d[{i}])' for i in range(c))
        words = [f'"r"(x[{(given + i) * 32} + t])' for i in range(a + b)]
        words += [f'"{letter}"(reinterpret_cast<const {kind} *>(x)[{(given + a + b + i) * 32} + t])' for i in range(c)]
        words += [f'"r"(x[{(given + a + b + c + i) * 32} + t])' for i in range(more)]
        stores = " ".join(f"reinterpret_cast<{kind} *>(y)[{(taken + i) * 32} + t] = d[{i}];" for i in range(c))
        lines.append(f'  {{ {kind} d[{c}]; asm volatile("{text};" : {outs} : {", ".join(words)}); {stores} }}')
        given, taken = given + a + b + c + more, taken + c
    return "\n".join([*lines, "}", ""])


def spread(codes: NDArray[np.int64], bits: int) -> Iterator[NDArray[np.uint32]]:
    """The registers of a matrix along k: four lanes hold a row of a part of k, and rows from 8 on come between."""
    each = 32 // bits
    t = np.arange(32)
    for part in range(codes.shape[1] // (4 * each)):
        for block in range(codes.shape[0] // 8):
            word = np.zeros(32, np.uint64)
            for i in range(each):
                word |= codes[8 * block + t // 4, part * 4 * each + t % 4 * each + i].astype(np.uint64) << np.uint64(
                    i * bits
                )
            yield word.astype(np.uint32)


def choose(
    table: Table, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    codes = rng.choice(np.array(list(table)), shape)
    return codes, np.vectorize(table.__getitem__)(codes).astype(np.float64)


def metadata(shape: Shape, rng: np.random.Generator) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Each lane's word, and the element of k that each stored one is, by CuTe's ELayouts: (thread, value), (row, k)."""
    words = rng.integers(0, 1 << 32, 32, dtype=np.uint32)
    places = np.zeros((16, shape.stored), np.int64)
    pair = 2 if shape.bits == 4 else 1
    chunk = 2 if shape.bits == 32 else 4 * pair
    for t in range(32):
        lane, row = t % 4, t // 4
        if shape.bits <= 8:
            chunks = [(row + 8 * (lane % 2), shape.k // 2 * (lane // 2) + chunk * v) for v in range(8)]
        elif lane // 2 == shape.selector:
            chunks = [(row + 8 * half, shape.k // 2 * (lane % 2) + chunk * v) for half in (0, 1) for v in range(4)]
        else:
            continue
        words[t] = 0
        for place, (m, k) in enumerate(chunks):
            low, high = sorted(int(one) for one in rng.choice(4, 2, replace=False))
            if shape.bits == 32:
                low = 2 * (low % 2)
                high = low + 1
            found = (
                [k + low // 2] if shape.bits == 32 else [k + at * pair + i for at in (low, high) for i in range(pair)]
            )
            words[t] |= np.uint32((low | high << 2) << 4 * place)
            places[m, k // 2 : k // 2 + len(found)] = found
    return words, places


def case(shape: Shape, rng: np.random.Generator) -> tuple[list[NDArray[np.uint32]], NDArray[np.float64]]:
    """The words of a product, and its sums by register and lane."""
    (a_codes, a), (b_codes, b) = choose(shape.a, (16, shape.stored), rng), choose(shape.b, (8, shape.k), rng)
    words = [*spread(a_codes, shape.bits), *spread(b_codes, shape.bits)]
    more = []
    if shape.selector is not None:
        own, places = metadata(shape, rng)
        more.append(own)
        full = np.zeros((16, shape.k))
        np.put_along_axis(full, places, a, axis=1)
        a = full
    if shape.scales:
        for lines, byte, thread in ((16, BYTE_A[shape.scales], THREAD_A), (8, BYTE_B[shape.scales], THREAD_B)):
            codes, values = choose(SCALES[shape.scale], (lines, shape.scales), rng)
            own = rng.integers(0, 1 << 32, 32, dtype=np.uint32)
            for row in range(lines):
                lane = row % 8 * 4 + (2 * thread + row // 8 if lines == 16 else thread)
                for i in range(shape.scales):
                    at = np.uint32(8 * (byte + i))
                    own[lane] = own[lane] & ~(np.uint32(255) << at) | np.uint32(codes[row, i]) << at
            more.append(own)
            wide = np.repeat(values, shape.k // shape.scales, axis=1)
            a, b = (a * wide, b) if lines == 16 else (a, b * wide)
    start = rng.integers(-8, 9, (16, 8)).astype(np.float64)
    product = start + a @ b.T
    t = np.arange(32)
    held = [start[t // 4 + i // 2 * 8, t % 4 * 2 + i % 2] for i in range(4)]
    if shape.sums == "f16":
        words += [np.stack(held[i : i + 2], 1).astype(np.float16).view(np.uint32)[:, 0] for i in (0, 2)]
    else:
        words += [one.astype(np.float32 if shape.sums == "f32" else np.int32).view(np.uint32) for one in held]
    return [*words, *more], np.array([product[t // 4 + i // 2 * 8, t % 4 * 2 + i % 2] for i in range(4)])


def run(device: CpuDevice, x: NDArray[np.uint32]) -> Outcome:
    taken = sum(shape.registers[2] for shape in SHAPES)
    arguments = {"y": f"f32[{32 * taken}]", "x": x.reshape(-1).view(np.float32)}
    return device.run(
        job_of(kernel(), ("products",), "products", arguments, 32), Probe(check=True, runs=1, timeout=60.0)
    )


@pytest.mark.slow
def test_exact_products_of_words_are_those_of_the_matrices() -> None:
    rng = np.random.default_rng(7)
    cases = [case(shape, rng) for shape in SHAPES]
    x = np.concatenate([np.array(words, np.uint32) for words, _ in cases])
    with CpuDevice() as device:
        outcome = run(device, x)
        assert (outcome.refusal, outcome.findings) == (None, ())
        got = outcome.runs[0].outputs["y"].reshape(-1, 32)
        at = 0
        for shape, (_, wanted) in zip(SHAPES, cases, strict=True):
            made = got[at : at + shape.registers[2]].copy()
            at += shape.registers[2]
            if shape.sums == "f16":
                halves = made.view(np.float16).reshape(2, 32, 2)
                found = np.array([halves[i // 2, :, i % 2] for i in range(4)]).astype(np.float64)
            else:
                found = (made.view(np.int32) if shape.sums == "s32" else made).astype(np.float64)
            np.testing.assert_array_equal(found, wanted, err_msg=shape.name)
        rounded = x.copy()
        a, b, _, _ = SHAPES[0].registers
        rounded[a + b, 5] = np.float32(2.0**-30).view(np.uint32)  # beside whole numbers
        assert "sums that are not exact" in str(run(device, rounded).refusal)
        twice = x.copy()
        twice[a + b + 4, 2] = 0
        assert "metadata or a selector that PTX leaves undefined" in str(run(device, twice).refusal)


def test_the_sums_of_these_cases_are_exact() -> None:
    """Whole numbers of quarters of quarters, and few: else the matrices above would round as well."""
    rng = np.random.default_rng(7)
    for shape in SHAPES:
        _, sums = case(shape, rng)
        assert all(Fraction(float(one)).denominator <= 256 and abs(one) < 2**20 for one in sums.reshape(-1))


MORE = """
__global__ void more(float *y, const float *x) {
  int t = threadIdx.x;
  // m8n8k4 of halves: lanes 0 to 3 and 16 to 19 are one product, A by rows and B by columns, sums in halves.
  unsigned a[2], b[2], c[4] = {};
  for (int i = 0; i < 2; i++) a[i] = __float_as_uint(x[i * 32 + t]), b[i] = __float_as_uint(x[(2 + i) * 32 + t]);
  asm("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) y[i * 32 + t] = __uint_as_float(c[i]);
  float f[8] = {};  // A by columns, B by rows, sums of floats
  asm("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32 "
      "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"
      : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(f[4]), "+f"(f[5]), "+f"(f[6]), "+f"(f[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 8; i++) y[(4 + i) * 32 + t] = f[i];
  double d[4], of_a[4], of_b[2];
  for (int i = 0; i < 4; i++) of_a[i] = x[(4 + i) * 32 + t], d[i] = x[(10 + i) * 32 + t];
  for (int i = 0; i < 2; i++) of_b[i] = x[(8 + i) * 32 + t];
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(of_a[0]), "d"(of_a[1]), "d"(of_a[2]), "d"(of_a[3]), "d"(of_b[0]), "d"(of_b[1]));
  for (int i = 0; i < 4; i++) y[(12 + i) * 32 + t] = static_cast<float>(d[i]);
  int s[2] = {3, 4};
  asm("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+r"(s[0]), "+r"(s[1]) : "r"(__float_as_uint(x[14 * 32 + t])), "r"(__float_as_uint(x[15 * 32 + t])));
  for (int i = 0; i < 2; i++) y[(16 + i) * 32 + t] = static_cast<float>(s[i]);
}
"""


@pytest.mark.slow
def test_products_of_halves_by_eights_of_doubles_and_of_bits() -> None:
    rng = np.random.default_rng(8)
    x = np.zeros((16, 32), np.float32)
    a, b = rng.integers(-4, 5, (32, 4)), rng.integers(-4, 5, (32, 4))  # four halves of each lane
    for i in range(2):
        x[i] = a[:, 2 * i : 2 * i + 2].astype(np.float16).copy().view(np.float32)[:, 0]
        x[2 + i] = b[:, 2 * i : 2 * i + 2].astype(np.float16).copy().view(np.float32)[:, 0]
    x[4:14] = rng.integers(-4, 5, (10, 32))
    x[14:] = rng.integers(0, 1 << 32, (2, 32), dtype=np.uint32).view(np.float32)
    with CpuDevice() as device:
        job = job_of(MORE, ("more",), "more", {"y": f"f32[{18 * 32}]", "x": x.reshape(-1)}, 32)
        outcome = device.run(job, Probe(check=True, runs=1, timeout=60.0))
    assert (outcome.refusal, outcome.findings) == (None, ())
    y = outcome.runs[0].outputs["y"].reshape(18, 32)
    for first in (0, 4, 8, 12):
        lanes = np.r_[first : first + 4, first + 16 : first + 20]
        product = a[lanes] @ b[lanes].T  # row m of A by column n of B
        halves = y[:4, lanes].copy().view(np.float16).reshape(4, 8, 2).transpose(1, 0, 2).reshape(8, 8)
        np.testing.assert_array_equal(halves.astype(np.int64), product)
        left = np.concatenate([a[lanes[:4]].T, a[lanes[4:]].T])  # a lane has column k, of rows 0 to 3 or 4 to 7
        right = np.concatenate([b[lanes[:4]].T, b[lanes[4:]].T])
        product = left @ right.T
        for place, t in enumerate(lanes):
            for i in range(8):
                row, col = (t & 1) + (i & 2) + 4 * (place // 4), (i & 4) + (t & 2) + (i & 1)
                assert y[4 + i, t] == product[row, col]
    t = np.arange(32)
    left, right, start = np.zeros((16, 8)), np.zeros((8, 8)), np.zeros((16, 8))
    for i in range(4):
        left[t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2)] = x[4 + i]
        start[t // 4 + 8 * (i // 2), t % 4 * 2 + i % 2] = x[10 + i]
    for i in range(2):
        right[t // 4, t % 4 + 4 * i] = x[8 + i]
    product = start + left @ right.T
    np.testing.assert_array_equal(y[12:16], [product[t // 4 + 8 * (i // 2), t % 4 * 2 + i % 2] for i in range(4)])
    bits = [np.unpackbits(x[14 + i].copy().view(np.uint8).reshape(8, 16), axis=1) for i in range(2)]
    counts = (bits[0][:, None] != bits[1][None]).sum(axis=2)
    np.testing.assert_array_equal(y[16:], [counts[t // 4, t % 4 * 2 + i] + 3 + i for i in range(2)])

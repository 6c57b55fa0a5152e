"""mma.sync of integers of 8, 4 and 1 bits multiplies the matrices that PTX's tables spread over a warp."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice


@dataclass(frozen=True)
class Shape:
    """An instruction: rows of a, depth, bits of a factor, the signs of both, and whether sums saturate."""

    rows: int
    k: int
    bits: int
    a_signed: bool
    b_signed: bool
    saturates: bool = False

    @property
    def name(self) -> str:
        if self.bits == 1:
            return f"mma.sync.aligned.m{self.rows}n8k{self.k}.row.col.s32.b1.b1.s32.and.popc"
        kinds = ".".join(f"{'s' if signed else 'u'}{self.bits}" for signed in (self.a_signed, self.b_signed))
        return f"mma.sync.aligned.m{self.rows}n8k{self.k}.row.col{'.satfinite' * self.saturates}.s32.{kinds}.s32"

    @property
    def registers(self) -> tuple[int, int, int]:
        """Of a, of b, and of the sums."""
        return self.rows * self.k * self.bits // 1024, 8 * self.k * self.bits // 1024, self.rows // 4


SHAPES = (
    Shape(8, 16, 8, True, False),
    Shape(16, 32, 8, False, True, saturates=True),
    Shape(8, 32, 4, False, False),
    Shape(16, 64, 4, True, False, saturates=True),
    Shape(8, 128, 1, False, False),
    Shape(16, 256, 1, False, False),
)


def kernel() -> str:
    lines = ["__global__ void products(unsigned *y, const unsigned *x) {", "  int t = threadIdx.x;"]
    given = taken = 0
    for shape in SHAPES:
        a, b, c = shape.registers
        places = [f"%{i}" for i in range(a + b + 2 * c)]
        groups = [places[:c], places[c : c + a], places[c + a : c + a + b], places[c + a + b :]]
        text = f"{shape.name} {', '.join('{' + ', '.join(one) + '}' for one in groups)};"
        outs = ", ".join(f'"=r"(d[{i}])' for i in range(c))
        inputs = ", ".join(f'"r"(x[{(given + i) * 32} + t])' for i in range(a + b + c))
        stores = " ".join(f"y[{(taken + i) * 32} + t] = d[{i}];" for i in range(c))
        lines.append(f'  {{ unsigned d[{c}]; asm volatile("{text}" : {outs} : {inputs}); {stores} }}')
        given, taken = given + a + b + c, taken + c
    return "\n".join([*lines, "}", ""])


def factors(words: NDArray[np.uint32], shape: Shape, lines: int, signed: bool) -> NDArray[np.int64]:
    """A matrix with so many lines along the lanes' groups, by PTX's table: element i of lane t is in line t / 4 of its
    block of eight, at each (t % 4) + i % each of its fold."""
    each = 32 // shape.bits
    made = np.zeros((lines, shape.k), np.int64)
    for register in range(len(words)):
        block, fold = register % (lines // 8), register // (lines // 8)
        for t in range(32):
            for i in range(each):
                code = int(words[register, t]) >> i * shape.bits & ((1 << shape.bits) - 1)
                value = code - (1 << shape.bits) if signed and code >> (shape.bits - 1) else code
                made[8 * block + t // 4, fold * 4 * each + t % 4 * each + i] = value
    return made


@pytest.mark.slow
def test_products_of_integers() -> None:
    rng = np.random.default_rng(6)
    total = sum(sum(shape.registers) for shape in SHAPES)
    x = rng.integers(0, 1 << 32, (total, 32), dtype=np.uint32)
    wanted = []
    at = 0
    for shape in SHAPES:
        a, b, c = shape.registers
        if shape.saturates:
            x[at + a + b : at + a + b + c, ::2] = 0x7FFFFFF0  # some sums are above 2^31
        left = factors(x[at : at + a], shape, shape.rows, shape.a_signed)
        right = factors(x[at + a : at + a + b], shape, 8, shape.b_signed)
        product = left @ right.T
        for i in range(c):
            rows = np.arange(32) // 4 + 8 * (i // 2)
            sums = product[rows, np.arange(32) % 4 * 2 + i % 2] + x[at + a + b + i].view(np.int32)
            wanted.append(np.clip(sums, -(1 << 31), (1 << 31) - 1) if shape.saturates else sums)
        at += a + b + c
    job = job_of(
        kernel(), ("products",), "products", {"y": f"f32[{32 * len(wanted)}]", "x": x.reshape(-1).view(np.float32)}, 32
    )
    with CpuDevice() as device:
        outcome = device.run(job, Probe(check=True, runs=1, timeout=60.0))
    assert outcome.findings == ()
    got = outcome.runs[0].outputs["y"].view(np.int32).reshape(-1, 32)
    np.testing.assert_array_equal(got, np.array(wanted).astype(np.int32))

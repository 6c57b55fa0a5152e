"""wmma in PTX multiplies the matrices that it loads, in every kind and shape, whatever the order of its words."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.ptx.table import templates_of


@dataclass(frozen=True)
class Tile:
    """A product: types of the factors and sums with the register of each, the shape, and the orders of a, b and c."""

    factor: str
    sums: str
    shape: tuple[int, int, int]
    registers: tuple[int, int, int]
    orders: tuple[str, str, str]
    has_stride: bool = True
    saturates: bool = False

    @property
    def last(self) -> str:
        return ".satfinite" * self.saturates


TILES = (
    Tile("f16", "f16", (16, 16, 16), (8, 8, 4), ("row", "col", "row")),
    Tile("f16", "f32", (8, 32, 16), (8, 8, 8), ("col", "row", "col"), has_stride=False),
    Tile("bf16", "f32", (32, 8, 16), (8, 2, 8), ("row", "row", "row")),
    Tile("bf16", "f32", (16, 16, 16), (4, 4, 8), ("col", "col", "col"), has_stride=False),
    Tile("tf32", "f32", (16, 16, 8), (4, 4, 8), ("col", "row", "row")),
    Tile("s8", "s32", (32, 8, 16), (4, 1, 8), ("row", "col", "row")),
    Tile("u8", "s32", (16, 16, 16), (2, 2, 8), ("row", "row", "col"), saturates=True),
    Tile("f64", "f64", (8, 8, 4), (1, 1, 2), ("col", "col", "row")),
)
TYPES = {
    "f16": ("__half", "r"), "bf16": ("__nv_bfloat16", "r"), "tf32": ("float", "r"), "s8": ("signed char", "r"),
    "u8": ("unsigned char", "r"), "f64": ("double", "d"), "f32": ("float", "f"), "s32": ("int", "r"),
}  # fmt: skip
REGISTERS = {"r": "unsigned", "d": "double", "f": "float"}


def braces(first: int, count: int) -> str:
    return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"


def products(number: int, tile: Tile) -> str:
    """The lines that multiply one tile: loads from generic and shared memory, the product, and a store by columns."""
    m, n, k = tile.shape
    name = f"m{m}n{n}k{k}"
    (factor, of_factor), (sums, of_sums) = TYPES[tile.factor], TYPES["f16" if tile.sums == "f16" else tile.sums]
    lines = [f"  {{ __shared__ alignas(32) {factor} a[{m * k}], b[{k * n}]; __shared__ alignas(32) {sums} c[{m * n}];"]
    for part, count in (("a", m * k), ("b", k * n), ("c", m * n)):
        value = f"given[{number}][{'abc'.index(part)}][i]"
        lines.append(f"  for (int i = t; i < {count}; i += 32) {part}[i] = ({factor if part != 'c' else sums}){value};")
    lines.append("  __syncwarp();")
    kinds = {"a": (tile.factor, of_factor), "b": (tile.factor, of_factor), "c": (tile.sums, of_sums)}
    for part, count, order, (rows, cols) in zip(
        "abc", tile.registers, tile.orders, ((m, k), (k, n), (m, n)), strict=True
    ):
        kind, letter = kinds[part]
        space, address = (".shared", f'"r"(at({part}))') if part == "b" else ("", f'"l"({part})')
        stride = f", {rows if order == 'col' else cols}" * tile.has_stride
        words = f"{order}.{name}" if part != "c" else f"{name}.{order}"  # in any order
        outs = ", ".join(f'"={letter}"({part}{part}[{i}])' for i in range(count))
        text = f"wmma.load.{part}.sync.aligned.{words}{space}.{kind} {braces(0, count)}, [%{count}]{stride};"
        lines.append(f'  {REGISTERS[letter]} {part}{part}[{count}]; asm volatile("{text}" : {outs} : {address});')
    of_a, of_b, of_c = tile.registers
    types = f"{tile.sums}.{tile.sums}" if tile.factor == "f16" else ".".join((tile.sums, *[tile.factor] * 2, tile.sums))
    places = (braces(0, of_c), braces(of_c, of_a), braces(of_c + of_a, of_b), braces(of_c + of_a + of_b, of_c))
    text = f"wmma.mma.sync.aligned.{tile.orders[0]}.{tile.orders[1]}.{name}.{types}{tile.last} {', '.join(places)};"
    inputs = [(part, i) for part, count in zip("abc", tile.registers, strict=True) for i in range(count)]
    given = ", ".join(f'"{kinds[part][1]}"({part}{part}[{i}])' for part, i in inputs)
    outs = ", ".join(f'"={of_sums}"(d[{i}])' for i in range(of_c))
    lines.append(f'  {REGISTERS[of_sums]} d[{of_c}]; asm volatile("{text}" : {outs} : {given});')
    stored = ", ".join(f'"{of_sums}"(d[{i}])' for i in range(of_c))
    text = f"wmma.store.d.sync.aligned.col.{name}.{tile.sums} [%0], {braces(1, of_c)}, {m};"
    lines.append(f'  __syncwarp(); asm volatile("{text}" :: "l"(c), {stored} : "memory"); __syncwarp();')
    return "\n".join(
        [*lines, f"  for (int i = t; i < 256; i += 32) y[256 * {number} + i] = i < {m * n} ? float(c[i]) : 0.0f; }}"]
    )


def kernel() -> str:
    heads = ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>"]
    heads.append("__device__ unsigned at(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }")
    heads.append("__global__ void products(float *y, const float *x) {\n  int t = threadIdx.x; auto given = "
                 "reinterpret_cast<const float (*)[3][512]>(x);")  # fmt: skip
    return "\n".join([*heads, *(products(number, tile) for number, tile in enumerate(TILES)), "}", ""])


def matrix(values: NDArray[np.float32], rows: int, cols: int, order: str) -> NDArray[np.float64]:
    flat = values[: rows * cols].astype(np.float64)
    return flat.reshape(rows, cols) if order == "row" else flat.reshape(cols, rows).T


@pytest.mark.slow
def test_tiles_of_every_kind_are_multiplied() -> None:
    x = np.random.default_rng(3).integers(0, 5, (len(TILES), 3, 512)).astype(np.float32)
    wanted = np.zeros((len(TILES), 256), np.float32)
    for number, tile in enumerate(TILES):
        m, n, k = tile.shape
        if tile.factor == "s8":
            x[number, :2] -= 3
        if tile.saturates:
            x[number, 2, ::2] = 2.0**31 - 128  # a float; every sum with it is above 2^31
            x[number, :2] += 2
        a, b, c = (
            matrix(x[number, part], *size, tile.orders[part]) for part, size in enumerate(((m, k), (k, n), (m, n)))
        )
        sums = np.minimum(a @ b + c, 2.0**31 - 1)
        wanted[number, : m * n] = sums.T.reshape(-1)
    job = job_of(kernel(), ("products",), "products", {"y": f"f32[{wanted.size}]", "x": x.reshape(-1)}, 32)
    with CpuDevice() as device:
        outcome = device.run(job, Probe(check=True, runs=1, timeout=60.0))
    assert outcome.findings == ()
    got = outcome.runs[0].outputs["y"].view(np.float32).reshape(wanted.shape)
    for number, tile in enumerate(TILES):
        np.testing.assert_array_equal(got[number], wanted[number], err_msg=str(tile))


@pytest.mark.parametrize(
    "name",
    [
        "wmma.load.a.sync.aligned.row.m16n16k8.f16",
        "wmma.load.a.sync.aligned.row.row.m16n16k16.f16",
        "wmma.load.a.sync.aligned.row.m16n16k16.local.f16",
        "wmma.load.a.sync.aligned.row.m8n8k32.s4",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.satfinite",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.f16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.bf16.bf16.f16",
        "wmma.mma.sync.aligned.row.m16n16k16.f32.f32",
    ],
)
def test_what_ptx_or_the_table_does_not_have_is_refused(name: str) -> None:
    assert templates_of(name) == ()
